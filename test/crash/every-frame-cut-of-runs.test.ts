// The same of the verbs about runs: the ends of a claim that say less are cut in the long run only.
import { cutEverywhere } from './cut-everywhere.ts'
import { MORE_RUN_VERBS, RUN_VERBS } from './cut-run-verbs.ts'

cutEverywhere(process.env['LOCKSTEP_LONG'] === '1' ? { ...RUN_VERBS, ...MORE_RUN_VERBS } : RUN_VERBS)
