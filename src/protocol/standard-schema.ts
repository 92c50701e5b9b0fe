// Runs a queue's Standard Schema over a value, at both ends; schemas may be asynchronous. The verdict is a value: the
// producer turns it into an error before anything is sent, the consumer into a dead letter that names the path.
import type { StandardSchemaV1 } from '@standard-schema/spec'

export interface InvalidIssue {
  /** Such as `data.lines[2].price`. */
  readonly path: string
  readonly message: string
}

export type Checked<Out> =
  | { readonly valid: true; readonly value: Out }
  | { readonly valid: false; readonly issues: readonly InvalidIssue[] }

function pathText(path: StandardSchemaV1.Issue['path']): string {
  return (path ?? [])
    .map((part) => (typeof part === 'object' ? part.key : part))
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
}

function verdictOf<Out>(result: StandardSchemaV1.Result<Out>): Checked<Out> {
  if (result.issues === undefined) return { valid: true, value: result.value }
  return {
    valid: false,
    issues: result.issues.map((issue) => ({ path: `data${pathText(issue.path)}`, message: issue.message })),
  }
}

/** The verdict itself where the schema gives it at once, as most do: once per job, a promise is worth leaving out. */
export function checkValueSoon<In, Out>(
  schema: StandardSchemaV1<In, Out>,
  value: unknown,
): Checked<Out> | Promise<Checked<Out>> {
  const given = schema['~standard'].validate(value)
  return 'then' in given ? Promise.resolve(given).then(verdictOf) : verdictOf(given)
}

export async function checkValue<In, Out>(schema: StandardSchemaV1<In, Out>, value: unknown): Promise<Checked<Out>> {
  return checkValueSoon(schema, value)
}

/** One line for an error or a dead letter. */
export function issuesText(issues: readonly InvalidIssue[]): string {
  return issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ')
}
