// A test that needs a tool the machine may lack says so here: a named absence for a newcomer, a failure where
// LOCKSTEP_REQUIRE=all promises that everything is there. Nothing is skipped in silence.

/** Tells that `what` is missing; the caller then returns without having tested it. */
export function reportAbsence(t: { diagnostic(message: string): void }, what: string): void {
  if (process.env['LOCKSTEP_REQUIRE'] === 'all')
    throw new Error(`${what} is missing, and LOCKSTEP_REQUIRE=all asks for it`)
  t.diagnostic(`not tested: ${what} is missing`)
}
