// Tutorial 4 of 5: replay of a group from the start. Messages stay after they were consumed; a group is only a place in them. Move
// it back and everything comes again, for this group alone: to rebuild a projection after a bug, or to fill a new one.
import { tutorial } from './tutorial.ts'

await tutorial('4. Replay from the start', async ({ lockstep, named, check }) => {
  const payments = lockstep.queue<{ account: string; cents: number }>(named('payments'))
  const balances = payments.group(named('balances')).subscriptionMode('all')

  await payments.push([
    { data: { account: 'a', cents: 100 } },
    { data: { account: 'a', cents: 250 } },
    { data: { account: 'b', cents: 40 } },
  ])

  async function project(forget: (cents: number) => number): Promise<Map<string, number>> {
    const totals = new Map<string, number>()
    await balances
      .each()
      .idleMillis(700)
      .consume(async ({ data }) => {
        totals.set(data.account, (totals.get(data.account) ?? 0) + forget(data.cents))
      })
    return totals
  }

  const wrong = await project((cents) => Math.min(cents, 200))
  check(wrong.get('a') === 300, 'a projection with a bug')
  check((await project((cents) => cents)).size === 0, 'what was consumed does not come again by itself')

  await balances.seek('start')
  const right = await project((cents) => cents)
  check(right.get('a') === 350 && right.get('b') === 40, 'after the replay the projection is right')

  // To an instant: only what was created at or after it.
  const [last] = (await payments.group(named('look')).subscriptionMode('all').pop()).slice(-1)
  await payments.push({ data: { account: 'c', cents: 7 } })
  if (last === undefined) throw new Error('the payments are gone')
  await balances.seek({ timestamp: last.createdAt })
  const late = await project((cents) => cents)
  check(late.get('c') === 7, 'a replay from an instant brings what came since')

  // A new group needs no replay: it begins where it says.
  const fresh = await payments.group(named('fresh')).subscriptionMode('all').pop()
  check(fresh.length === 4, 'a new group begins at the oldest message')

  await payments.delete()
})
