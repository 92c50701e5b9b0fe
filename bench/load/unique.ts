// Transaction ids that no other run or process of this machine gives again.
import { randomBytes } from 'node:crypto'

const prefix = randomBytes(8).toString('hex')
let last = 0

export function unique(): string {
  last += 1
  return `${prefix}-${last}`
}
