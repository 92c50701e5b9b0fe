// What a check finds: a place, what is wrong there, and what to do instead. A fault without the last is no help.
import type { Tree } from './tree.ts'

export interface Fault {
  readonly path: string
  readonly line: number
  readonly what: string
  readonly instead: string
}

/** A house rule: a pure function over the tree. */
export type Check = (tree: Tree) => readonly Fault[]

/** `path:line  what` and, indented below, the way out. */
export function describeFault(fault: Fault): string {
  return `${fault.path}:${fault.line}  ${fault.what}\n    -> ${fault.instead}`
}
