// The one suite that every adapter passes, against its real library and a real PostgreSQL.
import { test } from 'node:test'
import { openGround } from './ground.ts'
import { testCompleting } from './completing.ts'
import { testCutting } from './cutting.ts'
import { testJoining } from './joining.ts'
import { testWorking } from './working.ts'
import type { OpenSubject } from './subject.ts'

export function adapterSuite<Tx>(library: string, open: OpenSubject<Tx>): void {
  test(`${library}: joins a transaction, completes in one, and survives what may happen to it`, async (t) => {
    const ground = await openGround(t, open)
    await testJoining(t, ground)
    await testCompleting(t, ground)
    await testCutting(t, ground)
    await testWorking(t, ground)
  })
}
