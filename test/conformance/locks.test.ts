// Locks and semaphores on both ways: one holder, kept alive by renewal, told when it is lost, and fenced in every commit.
import assert from 'node:assert/strict'
import { LockstepError } from 'lockstep'
import { onEveryWay, onlyWay, type Case } from './every-way.ts'
import { gate, until } from './until.ts'

/** Ends a permit as its expiry would. */
async function takeAway({ sql }: Pick<Case, 'sql'>, key: string): Promise<void> {
  await sql(`select lockstep.kv_delete('queen-locks', $1)`, [key])
}

onEveryWay('a lock has one holder, and names it to whoever is refused', async ({ lockstep, another, named, sql }) => {
  const name = named('l')
  const lock = await lockstep.locks.acquire(name, { owner: 'me' })
  assert.ok(lock.acquired)
  assert.deepEqual([lock.name, lock.slot, lock.owner, lock.signal.aborted], [name, 0, 'me', false])
  const [row] = await sql(`select version::int, value from lockstep.kv where ns = 'queen-locks' and key = $1`, [
    `${name}#0`,
  ])
  assert.deepEqual([row?.['version'], row?.['value']], [lock.token, '{"owner":"me"}'])
  const refused = await another().locks.acquire(name)
  assert.deepEqual(
    [refused.acquired, 'reason' in refused && refused.reason, 'holders' in refused && refused.holders],
    [false, 'held', [{ slot: 0, owner: 'me' }]],
  )
  const before = lock.token
  assert.equal(await lock.renew(), true)
  assert.ok(lock.token > before)
  const [holder] = await lockstep.locks.holders(name)
  assert.deepEqual([holder?.owner, holder?.token, holder?.slot], ['me', lock.token, 0])
  assert.equal(await lock.release(), true)
  assert.equal(await lock.renew(), false)
  assert.deepEqual(await lockstep.locks.holders(name), [])
  assert.equal(lock.signal.aborted, false, 'a release is no loss')
})

onEveryWay(
  'withLock runs one at a time, waits its turn and gives the lock back',
  async ({ lockstep, another, named }) => {
    const name = named('l')
    let inside = 0
    let most = 0
    const clients = [lockstep, another()]
    const results = await Promise.all(
      Array.from({ length: 6 }, async (_, n) =>
        clients[n % 2]?.locks.withLock(
          name,
          async () => {
            most = Math.max(most, (inside += 1))
            await new Promise((resolve) => setImmediate(resolve))
            inside -= 1
            return n
          },
          { wait: Infinity },
        ),
      ),
    )
    assert.deepEqual([most, results], [1, [0, 1, 2, 3, 4, 5]])
    await assert.rejects(
      lockstep.locks.withLock(name, () => Promise.reject(new Error('mine'))),
      /mine/,
    )
    await lockstep.locks.withLock(name, async () => {
      await assert.rejects(
        another().locks.withLock(name, () => 1, { wait: '1ms' }),
        { code: 'lock_held' },
      )
      const giveUp = new AbortController()
      const waiting = another().locks.withLock(name, () => 1, { wait: Infinity, signal: giveUp.signal })
      giveUp.abort(new Error('enough'))
      await assert.rejects(waiting, /enough/)
    })
    assert.deepEqual(await lockstep.locks.holders(name), [])
  },
)

onEveryWay('a lock is renewed in the background, and its loss is told', async (c) => {
  const { lockstep, named } = c
  const lock = await lockstep.locks.acquire(named('l'), { ttl: '1s' })
  assert.ok(lock.acquired)
  const { token } = lock
  await until('a renewal', () => lock.token > token)
  await takeAway(c, `${lock.name}#0`)
  await until('the loss', () => lock.signal.aborted)
  assert.ok(lock.signal.reason instanceof LockstepError)
  assert.equal(lock.signal.reason.code, 'lock_lost')
  assert.equal(await lock.release(), false)

  await assert.rejects(
    lockstep.locks.withLock(
      named('m'),
      async ({ name, signal }) => {
        await takeAway(c, `${name}#0`)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      { ttl: '1s' },
    ),
    { code: 'lock_lost' },
  )
  const short = await lockstep.locks.acquire(named('short'), { ttl: '1s', renew: false })
  assert.ok(short.acquired)
  await until('its end, which nobody renewed away', () => short.signal.aborted)
})

onEveryWay('a guard lets a commit through while the lock is held, also when it was renewed meanwhile', async (c) => {
  const { lockstep, named } = c
  const lock = await lockstep.locks.acquire(named('l'))
  assert.ok(lock.acquired)
  const step = lockstep.transaction().kv.put('guarded', named('k'), 1, { ttl: '1d', expect: 0, required: true })
  const stale = { ...lock, guard: () => lock.guard(), forfeit: () => lock.forfeit() }
  const old = lock.guard()
  await lock.renew()
  const behind = { ...stale, guard: () => old }
  const won = await step.guard(behind).commit()
  assert.ok(won.success, 'its owner has moved the token: the commit follows')
  assert.deepEqual(
    won.results.map(({ type }) => type),
    ['kv'],
    'the guard is no result of the caller',
  )
  const lost = await step.guard(lock).commit()
  assert.ok(!lost.success && lost.reason === 'kv_precondition')
  assert.deepEqual([lost.failedIndex, lost.kvReason, lost.value], [0, 'exists', 1])
  await takeAway(c, `${lock.name}#0`)
  const other = await lockstep.locks.acquire(lock.name)
  assert.ok(other.acquired && other.token > lock.token)
  const fenced = await lockstep.transaction().queue(named('q')).push({ data: 1 }).guard(lock).commit()
  assert.deepEqual(
    [fenced.success, 'reason' in fenced && fenced.reason, 'lock' in fenced && fenced.lock],
    [false, 'lock_lost', lock.name],
  )
  assert.equal(lock.signal.aborted, true, 'the holder hears of it')
  assert.deepEqual(await lockstep.queue(named('q')).pop(), [])
  assert.equal((await lockstep.transaction().queue(named('q')).push({ data: 2 }).guard(other).commit()).success, true)
})

onEveryWay("in the caller's transaction a guard keeps the lock until its end", async (c) => {
  const { lockstep, connect, named } = c
  const lock = await lockstep.locks.acquire(named('l'), { renew: false })
  assert.ok(lock.acquired)
  const tx = await connect()
  await tx.query('begin')
  await lockstep.in(tx).guard(lock)
  await c.sql('set lock_timeout = 50')
  await assert.rejects(takeAway(c, `${lock.name}#0`), { code: '55P03' })
  await c.sql('set lock_timeout = 0')
  await tx.query('commit')
  await takeAway(c, `${lock.name}#0`)
  await tx.query('begin')
  await assert.rejects(lockstep.in(tx).guard(lock), { code: 'lock_lost' })
  await tx.query('rollback')
  await tx.end()
})

onEveryWay('a semaphore lets so many in, and a permit that is given back goes to who waits', async (c) => {
  const { lockstep, another, named } = c
  const semaphore = lockstep.locks.semaphore(named('s'), 3)
  const held = await Promise.all([1, 2, 3].map(async () => semaphore.acquire({ wait: '10s' })))
  assert.deepEqual(
    held.map((permit) => permit.acquired && permit.slot).toSorted((a, b) => Number(a) - Number(b)),
    [0, 1, 2],
  )
  const refused = await semaphore.acquire()
  assert.ok(!refused.acquired && refused.holders.length === 3)
  const inside = gate()
  const waiting = another()
    .locks.semaphore(semaphore.name, 3)
    .withPermit(
      async (permit) => {
        await inside.passed
        return permit.slot
      },
      { wait: Infinity },
    )
  const [first] = held
  assert.ok(first?.acquired && (await first.release()))
  await until('the next holder', async () => (await semaphore.holders()).length === 3)
  inside.open()
  assert.equal(await waiting, first.slot)
  assert.equal((await semaphore.holders()).length, 2)
})

onEveryWay('using and close give back what is held', async (c) => {
  const { lockstep, another, named } = c
  const leave = async (): Promise<void> => {
    await using lock = await lockstep.locks.acquire(named('a'))
    assert.equal(lock.acquired, true)
    await using refused = await lockstep.locks.acquire(named('a'))
    assert.equal(refused.acquired, false)
  }
  await leave()
  assert.deepEqual(await lockstep.locks.holders(named('a')), [])
  const drop = async (): Promise<void> => {
    using lock = await lockstep.locks.acquire(named('b'))
    assert.equal(lock.acquired, true)
  }
  await drop()
  await until('the release', async () => (await lockstep.locks.holders(named('b'))).length === 0)
  const other = another()
  assert.equal((await other.locks.acquire(named('c'))).acquired, true)
  await other.close()
  assert.deepEqual(await lockstep.locks.holders(named('c')), [])
})

// A step inside PostgreSQL does not go through a broker.
onlyWay(
  'postgres',
  'a transactional step carries timers and guards, and without its lock nothing of it is done',
  async (c) => {
    const { lockstep, named } = c
    const lock = await lockstep.locks.acquire(named('l'))
    assert.ok(lock.acquired)
    await lockstep.queue(named('in')).push([{ data: 'good' }])
    const steps = lockstep.queue(named('in')).group('g').subscriptionMode('all').each().transactional()
    await steps.limit(1).consume(async (message, step) => {
      await step.guard(lock)
      await step.timers.schedule(named('later'), 'k', message.data, { delay: '1d' })
    })
    assert.equal((await lockstep.timers.get(named('later'), 'k')).data, 'good')
    await takeAway(c, `${lock.name}#0`)
    await lockstep.queue(named('in')).push([{ data: 'bad' }])
    const stop = new AbortController()
    let tried = 0
    const consumed = await steps.consume(
      async (message, step) => {
        await step.timers.schedule(named('later'), 'k', message.data, { delay: '1d' })
        tried += 1
        if (tried === 1) stop.abort()
        await step.guard(lock).catch(() => {})
      },
      { signal: stop.signal },
    )
    assert.deepEqual([consumed.consumed, tried], [0, 1])
    assert.equal((await lockstep.timers.get(named('later'), 'k')).data, 'good')
  },
)

onEveryWay('what no lock can be is refused before it is sent', async ({ lockstep, named }) => {
  const { locks } = lockstep
  const bad = { code: 'locks_bad_request' }
  await assert.rejects(locks.acquire('a#1'), bad)
  await assert.rejects(locks.acquire(''), bad)
  await assert.rejects(locks.acquire(named('l'), { ttl: '1500ms' }), { code: 'bad_request' })
  await assert.rejects(locks.acquire(named('l'), { owner: '' }), { code: 'bad_request' })
  assert.throws(() => locks.semaphore(named('s'), 0), { code: 'bad_request' })
  assert.throws(() => locks.semaphore(named('s'), 1_025), { code: 'bad_request' })
})
