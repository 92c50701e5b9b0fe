// The state of a run as people and programs are told it: what the database calls done is a completed run.

export function runWord(state: string): string {
  return state === 'done' ? 'completed' : state
}
