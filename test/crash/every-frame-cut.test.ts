// The connection is cut before each single message of a verb's conversation, in either direction. Whatever was cut, the
// answer is true.
import { cutEverywhere } from './cut-everywhere.ts'
import { VERBS } from './cut-verbs.ts'

cutEverywhere(VERBS)
