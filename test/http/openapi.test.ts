// The document for machines is true: it is valid OpenAPI 3.1, every route is in it, and requests made from it, right and
// nearly right, get the answers that it names and never a 500.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { ROUTES } from '../../src/broker/http/routes.ts'
import type { Untyped } from '../../src/client/untyped.ts'
import { ERRORS } from '../../src/protocol/errors.ts'
import { exchange, serve } from './served.ts'

const RUNS = process.env['LOCKSTEP_LONG'] === undefined ? 5 : 200

/** Values of a schema; now and then another one, so that the door is tried as well. */
function valueOf(schema: Untyped, depth = 0): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map((each: Untyped) => valueOf(each, depth)))
  const types: string[] = schema.type === undefined ? ['any'] : [schema.type].flat()
  return fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...types.map((type) => ofType(type, schema, depth))) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, -1, 1e300, '', 'x', [], {}, true) },
  )
}

function ofType(type: string, schema: Untyped, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? -5, -1_000_000),
        max: Math.min(schema.maximum ?? 5, 1_000_000),
      })
    case 'string':
      return schema.format === 'date-time'
        ? fc.constantFrom('2026-01-01T00:00:00Z', '2026-11-29T12:00:00.5+02:00')
        : fc.oneof(fc.constantFrom('q', 'a', '1000000000001', 'put'), fc.string({ minLength: 1, maxLength: 6 }))
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, depth + 1), { maxLength: 3 })
    case 'object':
      return objectOf(schema, depth)
    default:
      return fc.constantFrom<unknown>(1, 'text', { a: [1, null] }, false)
  }
}

function objectOf(schema: Untyped, depth: number): fc.Arbitrary<unknown> {
  return recordOf(Object.entries<Untyped>(schema.properties ?? {}), schema.required ?? [], depth + 1)
}

/** A long poll would only wait. */
const PATIENT = new Set(['wait', 'timeout', 'waitMs', 'maxWaitMs'])

function recordOf(
  entries: readonly (readonly [string, Untyped])[],
  required: readonly string[],
  depth = 0,
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {}
  for (const [name, each] of entries) if (!PATIENT.has(name)) fields[name] = valueOf(each, depth)
  return fc.record(fields, { requiredKeys: required.filter((name) => name in fields) })
}

const SEGMENT = fc.oneof(fc.constantFrom('q', 'a', '1000000000001', 'b/c'), fc.string({ minLength: 1 }))

function requestOf(path: string, operation: Untyped): fc.Arbitrary<{ path: string; body: unknown }> {
  const parameters: Untyped[] = operation.parameters
  const segments = parameters.filter((each) => each.in === 'path')
  const query = parameters.filter((each) => each.in === 'query')
  const body = operation.requestBody?.content['application/json'].schema
  return fc
    .record({
      segments: fc.array(SEGMENT, { minLength: segments.length, maxLength: segments.length }),
      query: recordOf(
        query.map((each): [string, Untyped] => [each.name, each.schema]),
        query.filter((each) => each.required).map((each) => each.name),
      ),
      body: body === undefined ? fc.constant(undefined) : valueOf(body),
    })
    .map((made) => {
      const filled = segments.reduce(
        (text, each, at) => text.replace(`{${each.name}}`, encodeURIComponent(made.segments[at] ?? '')),
        path,
      )
      const asked = new URLSearchParams()
      for (const [name, value] of Object.entries(made.query)) asked.set(name, String(value))
      return { path: asked.size === 0 ? filled : `${filled}?${asked.toString()}`, body: made.body }
    })
}

test('the document is valid and tells every route', async (t) => {
  const { get } = await serve(t, { upkeep: false })
  const { status, json } = await get('/openapi.json')
  assert.deepEqual([status, json.openapi], [200, '3.1.0'])
  const { valid, errors } = await new Validator().validate(json)
  assert.ok(valid, JSON.stringify(errors))
  const told = Object.entries<Untyped>(json.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = ROUTES.map((route) => `${route.method} ${route.path.replaceAll(/[:*](\w+)/g, '{$1}')}`)
  assert.deepEqual(told.toSorted(), served.toSorted())
  const ids = Object.values<Untyped>(json.paths).flatMap((methods) =>
    Object.values<Untyped>(methods).map((operation) => operation.operationId),
  )
  assert.equal(new Set(ids).size, ids.length)
})

test('requests made from the document get the answers that it names, and no 500', async (t) => {
  const { url, get } = await serve(t, { upkeep: false })
  const { json: document } = await get('/openapi.json')
  const codes = new Set(Object.keys(ERRORS))
  const statuses = new Set<number>(Object.values(ERRORS).map((row) => row.status))
  for (const [path, methods] of Object.entries<Untyped>(document.paths)) {
    for (const [method, operation] of Object.entries<Untyped>(methods)) {
      await fc.assert(
        fc.asyncProperty(requestOf(path, operation), async (request) => {
          const reply = await exchange(url, method.toUpperCase(), request.path, request.body)
          const named = Object.keys(operation.responses).map(Number)
          assert.ok(reply.status < 500, `${reply.status} ${reply.text}`)
          if (reply.status >= 400) {
            assert.ok(named.includes(reply.status) || statuses.has(reply.status), `${reply.status} ${reply.text}`)
            const code: unknown = reply.json?.code ?? reply.json?.reason
            assert.ok(typeof code === 'string' && (codes.has(code) || /^[a-z]+_/.test(code)), reply.text)
            return
          }
          assert.ok(named.includes(reply.status), `${reply.status} is not among ${named.join(', ')}`)
          const schema = operation.responses[reply.status].content?.['application/json']?.schema
          if (schema?.type === 'array') assert.ok(Array.isArray(reply.json), reply.text)
          if (schema?.type === 'object') assert.equal(typeof reply.json, 'object', reply.text)
        }),
        { numRuns: RUNS, endOnFailure: true },
      )
    }
  }
  assert.equal((await get('/health')).status, 200)
})
