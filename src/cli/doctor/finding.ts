// Short makers of findings, so that a check reads as its sentences.

import type { Finding } from '../examine.ts'

export const fine = (check: string, seen: string): Finding => ({ check, status: 'ok', seen, hint: null })
export const warn = (check: string, seen: string, hint: string): Finding => ({ check, status: 'warn', seen, hint })
export const fail = (check: string, seen: string, hint: string): Finding => ({ check, status: 'fail', seen, hint })
