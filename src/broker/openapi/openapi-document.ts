// OpenAPI 3.1 of this broker, made from the table of routes: what the door reads is what the document says. Bodies are open
// objects, since unknown fields are ignored; answers are described by what they look like.
import type { Fields, JsonSchema } from '../../protocol/check.ts'
import { ERRORS } from '../../protocol/errors.ts'
import type { Route } from '../http/route.ts'
import { bodySchema } from './body-schema.ts'

const INFO = {
  title: 'Lockstep broker',
  summary: 'Ordered partitions, consumer groups, leases, transactions, state, locks, timers, streams and durable runs.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'code'],
  properties: {
    error: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    reason: { type: 'string' },
  },
}

export function openApiDocument(routes: readonly Route[], version: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/[:*](\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { ...INFO, version },
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: {
        Fault: { description: 'A fault with its code.', content: content({ $ref: '#/components/schemas/Error' }) },
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  }
}

const content = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } })

function operation(route: Route): JsonSchema {
  const body = route.body === undefined ? null : bodySchema(route.body)
  return {
    operationId: operationId(route),
    summary: route.about,
    'x-access': route.access,
    'x-rank': route.rank,
    security: route.access === 'public' ? [] : [{ bearer: [] }],
    parameters: [...inPath(route.path), ...inQuery(route.query ?? {})],
    ...(body === null ? {} : { requestBody: { content: content(body), required: required(body) } }),
    responses: { ...answers(route), default: { $ref: '#/components/responses/Fault' } },
  }
}

/** `post_api_v1_push`: the method and the path, so that it stays when words change. */
function operationId({ method, path }: Route): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^a-zA-Z0-9]+/g, '_')}`.replace(/_$/, '')
}

const required = (body: JsonSchema): boolean => Array.isArray(body['required']) && body['required'].length > 0

function inPath(path: string): readonly JsonSchema[] {
  return [...path.matchAll(/[:*](\w+)/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    ...(match[0].startsWith('*') ? { description: 'May hold slashes, encoded or not.' } : {}),
    schema: { type: 'string', minLength: 1 },
  }))
}

function inQuery(fields: Fields): readonly JsonSchema[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    in: 'query',
    required: !field.optional,
    description: field.type,
    schema: field.schema ?? { type: 'string' },
  }))
}

function answers(route: Route): JsonSchema {
  const listed = Object.entries(route.answers).map(([status, text]) => {
    const json = /^[[{]/.test(text)
    const answered = json ? { content: content(text.startsWith('[') ? { type: 'array' } : { type: 'object' }) } : {}
    return [status, { description: text === '' ? route.about : text, ...answered }]
  })
  return Object.fromEntries(listed)
}
