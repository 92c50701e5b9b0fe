// A body as JSON Schema, from the fields and parts that its route names. Parts stand at `items[]` or `options`; several parts
// at one place are kinds of the same thing, told apart by a field.
import type { Fields, JsonSchema } from '../../protocol/check.ts'
import type { BodyPart } from '../http/body-parts.ts'
import type { Route } from '../http/route.ts'

export function bodySchema(body: NonNullable<Route['body']>): JsonSchema {
  if (typeof body === 'string') return { type: 'object', description: body }
  if (!isParts(body)) return objectSchema(body)
  const own = body.find(({ at }) => at === '')
  const base = objectSchema(own?.fields ?? {})
  const properties: Record<string, JsonSchema> = { ...propertiesOf(base) }
  const places = new Set(body.filter(({ at }) => at !== '').map(({ at }) => placeOf(at)))
  for (const place of places) {
    const kinds = body.filter((part) => part.at !== '' && placeOf(part.at) === place).flatMap(kindsOf)
    const [only] = kinds
    const schema = kinds.length === 1 && only ? only : { oneOf: kinds }
    const name = place.replace('[]', '')
    properties[name] = place.endsWith('[]') ? { ...properties[name], type: 'array', items: schema } : schema
  }
  return { ...base, properties }
}

function isParts(body: Fields | readonly BodyPart[]): body is readonly BodyPart[] {
  return Array.isArray(body)
}

const placeOf = (at: string): string => at.split(' ')[0] ?? ''

/** `operations[] with "op":"put" or "putIfAbsent"` is two kinds of an operation. */
function kindsOf({ at, fields }: BodyPart): readonly JsonSchema[] {
  const told = /"(\w+)":"(\w+)"(?: or "(\w+)")?/.exec(at)
  if (!told) return [objectSchema(fields)]
  const [, name = '', ...values] = told
  return values
    .filter((value) => value !== undefined)
    .map((value) => {
      const schema = objectSchema(fields)
      const required = Array.isArray(schema['required']) ? schema['required'] : []
      return {
        ...schema,
        required: [name, ...required.filter((each) => each !== name)],
        properties: { [name]: { const: value }, ...propertiesOf(schema, name) },
      }
    })
}

function propertiesOf(schema: JsonSchema, without = ''): Record<string, JsonSchema> {
  const properties = schema['properties']
  if (typeof properties !== 'object' || properties === null) return {}
  return Object.fromEntries(Object.entries(properties).filter(([name]) => name !== without))
}

function objectSchema(fields: Fields): JsonSchema {
  const required = Object.entries(fields)
    .filter(([, field]) => !field.optional)
    .map(([name]) => name)
  const properties = Object.entries(fields).map(([name, field]) => [
    name,
    { ...nullable(field.schema ?? {}, field.optional), description: field.type },
  ])
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties),
  }
}

/** What may be left out may be null as well. */
function nullable(schema: JsonSchema, optional: boolean): JsonSchema {
  const { type, enum: choices, ...rest } = schema
  if (!optional || typeof type !== 'string') return schema
  return { ...rest, type: [type, 'null'], ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}) }
}
