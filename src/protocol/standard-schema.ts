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

export async function checkValue<In, Out>(schema: StandardSchemaV1<In, Out>, value: unknown): Promise<Checked<Out>> {
  const given = schema['~standard'].validate(value)
  // A schema that answers at once is not waited for: this is once per message and job.
  const result = 'then' in given ? await given : given
  if (result.issues === undefined) return { valid: true, value: result.value }
  return {
    valid: false,
    issues: result.issues.map((issue) => ({ path: `data${pathText(issue.path)}`, message: issue.message })),
  }
}

/** One line for an error or a dead letter. */
export function issuesText(issues: readonly InvalidIssue[]): string {
  return issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ')
}
