// Random programs of four sessions over few keys: whatever is written, deleted, expired, swept or rolled back, a key's
// version never falls and no version is given twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Client } from 'pg'
import { createTestDatabase } from '../../src/testing/database.ts'

const key = fc.constantFrom('a', 'b', 'c')
const write = fc.oneof(
  key.map((k) => `select lockstep.kv_put('t', '${k}', '1', p_forever => true)`),
  key.map((k) => `select lockstep.kv_put('t', '${k}', '1', p_forever => true, p_expect => 0)`),
  key.map((k) => `select lockstep.kv_put('t', '${k}', '1', p_ttl => '1 second')`),
  key.map((k) => `select lockstep.kv_delete('t', '${k}')`),
  key.map((k) => `select lockstep.kv_incr('t', '${k}', 1, p_forever => true)`),
  key.map((k) => `select lockstep.kv_check('t', '${k}', 0)`),
  key.map(
    (k) => `select * from lockstep.kv_joined('{0,1}', '{0,0}', '{put,delete}', '{t,t}', '{${k},${k}}', '{1,null}',
    '{null,null}', '{f,f}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', '{f,f}')`,
  ),
  key.map((k) => `update lockstep.kv set expires_at = '-infinity' where key = '${k}'`),
  fc.constant(`delete from lockstep.kv where ctid = any (array(
    select ctid from lockstep.kv where expires_at <= lockstep.clock() for update skip locked))`),
)
const transaction = fc.record({
  statements: fc.array(write, { minLength: 1, maxLength: 4 }),
  end: fc.constantFrom('commit', 'commit', 'rollback'),
})
const program = fc.array(transaction, { minLength: 1, maxLength: 6 })

// The trigger runs under the row's lock, so the memory of one key is written in the order of its commits.
const WATCH = `
create table seen (key text primary key, version bigint not null);
create table given (version bigint primary key);
create table fallen (key text, before bigint, version bigint);
create function watch() returns trigger language plpgsql as $$
begin
  if new.version = 0 or tg_op = 'UPDATE' and new.version = old.version then
    return new;
  end if;
  insert into public.given values (new.version);
  insert into public.fallen select s.key, s.version, new.version from public.seen s where s.key = new.key and s.version >= new.version;
  insert into public.seen values (new.key, new.version) on conflict (key) do update set version = new.version;
  return new;
end $$;
create trigger watch before insert or update on lockstep.kv for each row execute function watch();`

async function run(client: Client, transactions: readonly { statements: readonly string[]; end: string }[]) {
  for (const { statements, end } of transactions) {
    await client.query('begin')
    try {
      for (const statement of statements) await client.query(statement)
      await client.query(end)
    } catch (error) {
      // A user's own transaction names keys in any order; that is his deadlock.
      if (!(error instanceof Error) || Reflect.get(error, 'code') !== '40P01') throw error
      await client.query('rollback')
    }
  }
}

test('versions rise per key and are never given twice, over random programs of four sessions', async (t) => {
  const { connect } = await createTestDatabase(t)
  const admin = await connect()
  await admin.query(WATCH)
  const clients = await Promise.all([connect(), connect(), connect(), connect()])
  for (const client of clients) await client.query(`set deadlock_timeout = '10ms'`)
  let written = 0
  await fc.assert(
    fc.asyncProperty(fc.tuple(program, program, program, program), async (programs) => {
      await Promise.all(programs.map((transactions, at) => run(clients[at] ?? admin, transactions)))
      const { rows } = await admin.query('select * from fallen')
      assert.deepEqual(rows, [])
      const { rows: given } = await admin.query<{ count: string }>('select count(*) from given')
      written = Number(given[0]?.count)
    }),
    { numRuns: 40 },
  )
  assert.ok(written > 100, `only ${written} versions were given`)
})
