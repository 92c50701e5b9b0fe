// The rules over sql/: each obvious form that is known to break is planted once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { places, planted } from '../source/planted.ts'
import { checkSqlFunctions } from './sql-functions.ts'
import { FUNCTION_FIELDS, checkSqlHeaders } from './sql-headers.ts'
import { checkSqlHome } from './sql-home.ts'
import { checkSqlKeys } from './sql-keys.ts'
import { checkSqlLocks } from './sql-locks.ts'
import { checkSqlVolatile } from './sql-volatile.ts'
import { checkSqlWords } from './sql-words.ts'

const at = 'sql/functions/queue/push.sql'

function lock(where: string, how: string): string {
  return `$$ begin select 1 from lane l where ${where} order by 1 for ${how}; end $$`
}

function one(migration: string): number {
  return checkSqlKeys(planted({ 'sql/migrations/0001_a.sql': migration })).length
}

test('SQL text in TypeScript is found, a one-line call in an operation is not', () => {
  const faults = checkSqlHome(
    planted({
      'src/operations/push.ts':
        "const a = 'select r.* from lockstep.push_joined($1::text[]) r'\nconst b = `select *\n from lockstep.queue`\n",
      'src/client/queue.ts': "const a = 'select 1 from lockstep.queue q'\nconst b = 'update the page'\n",
      'src/broker/route.ts': "db.rows('delete from lockstep.kv where ns = $1')\n",
      'src/db/commit.ts': "db.query('insert into lockstep.migration values (1)')\n",
    }),
  )
  assert.deepEqual(places(faults), ['src/operations/push.ts:2', 'src/client/queue.ts:1', 'src/broker/route.ts:1'])
})

test('each header field that is missing is named', () => {
  const full = FUNCTION_FIELDS.map((field) => `-- ${field}: x`).join('\n')
  assert.equal(checkSqlHeaders(planted({ [at]: `${full}\ncreate` })).length, 0)
  assert.equal(checkSqlHeaders(planted({ [at]: full.replace('-- raises: x\n', '') })).length, 1)
  assert.equal(checkSqlHeaders(planted({ 'sql/migrations/0001_x.sql': '-- tables\n' })).length, 1)
  assert.equal(
    checkSqlHeaders(planted({ 'sql/migrations/0001_x.sql': '-- breaking: no · phase: pre · locks: none\n' })).length,
    0,
  )
})

test('a function is named as its file, definer with a fixed path, its parameters p_', () => {
  const good =
    'create or replace function lockstep.push(p_queue text, p_n int default 1) returns text language plpgsql security definer set search_path = pg_catalog, lockstep, pg_temp as $$ begin end $$;'
  assert.deepEqual(checkSqlFunctions(planted({ [at]: good })), [])
  const broken = [
    good.replace('lockstep.push', 'lockstep.pull'),
    good.replace(' security definer', ''),
    good.replace('set search_path = pg_catalog, lockstep, pg_temp', 'set search_path = public'),
    good.replace('p_n int', 'n int'),
    'select 1;',
  ]
  for (const text of broken) assert.notEqual(checkSqlFunctions(planted({ [at]: text })).length, 0, text)
})

test('other clocks, newer PostgreSQL, NOTIFY, advisory locks and savepoints in disguise are refused', () => {
  const words = [
    'select now()',
    'select clock_timestamp()',
    'x default current_timestamp',
    "select 'now'::timestamptz",
    'merge into t using s',
    'unique nulls not distinct (a)',
    'update t set a = 1 returning old.a',
    'select any_value(x)',
    'x is json',
    'perform pg_notify(a, b)',
    'perform pg_advisory_xact_lock(1)',
    'exception when others then',
    'a int references b',
    'select payload::json',
    'create temporary table t ()',
    'select ctid from t',
    "execute format('drop %I', x)",
  ]
  for (const word of words) assert.equal(checkSqlWords(planted({ [at]: `${word};\n` })).length, 1, word)
  assert.deepEqual(
    checkSqlWords(
      planted({ [at]: "-- now()\nselect lockstep.clock(), 'never now() here';\ngrant execute on function x to y;\n" }),
    ),
    [],
  )
  assert.deepEqual(checkSqlWords(planted({ 'sql/functions/clock/clock.sql': 'select clock_timestamp()' })), [])
})

test('FOR UPDATE needs a reason, and a lock names one queue by equality', () => {
  assert.deepEqual(checkSqlLocks(planted({ [at]: lock('l.queue_id = v_q', 'no key update') }), {}), [])
  assert.equal(checkSqlLocks(planted({ [at]: lock('l.queue_id = v_q', 'update') }), {}).length, 1)
  assert.deepEqual(
    checkSqlLocks(planted({ [at]: lock('l.queue_id = v_q', 'update') }), { [at]: 'the row is deleted' }),
    [],
  )
  assert.equal(checkSqlLocks(planted({ [at]: lock('l.queue_id = any (v_ids)', 'no key update') }), {}).length, 1)
  assert.equal(checkSqlLocks(planted({ [at]: lock('l.lease_id = v_lease', 'share') }), {}).length, 1)
  assert.equal(checkSqlLocks(planted({ [at]: 'select 1;' }), { [at]: 'no longer so' }).length, 1)
})

test('a volatile function in an UPDATE, a DELETE or a WHERE is found, in a variable or an INSERT it is not', () => {
  const broken = [
    'update lane l set available_at = lockstep.clock() where l.queue_id = 1',
    'delete from request r where r.expires_at < lockstep.clock()',
    'select 1 from lane where available_at <= clock()',
    "update kv set version = nextval('v')",
  ]
  for (const text of broken) assert.equal(checkSqlVolatile(planted({ [at]: `begin\n${text};\nend` })).length, 1, text)
  const fine = [
    'v_now := lockstep.clock()',
    'insert into staged (seq) select nextval(s) from unnest(p_x) on conflict do nothing',
    'select 1 from lane where a = 1 for no key update',
    'insert into kv values (1) on conflict (ns) do update set value = 1',
  ]
  for (const text of fine) assert.deepEqual(checkSqlVolatile(planted({ [at]: `begin\n${text};\nend` })), [], text)
})

test('keys of distributed tables begin with their column', () => {
  assert.equal(one('create table lockstep.lane (queue_id int, id int, primary key (queue_id, id));'), 0)
  assert.equal(one('create table lockstep.lane (queue_id int, id int, primary key (id, queue_id));'), 1)
  assert.equal(one('create table lockstep.lane (queue_id int, id int);'), 1)
  assert.equal(one('create table lockstep.lane (queue_id int, a int, primary key (queue_id, a), unique (a));'), 1)
  assert.equal(one('create table lockstep.queue (id int primary key);'), 0)
  assert.equal(one('create table lockstep.surprise (id int primary key);'), 1)
  assert.equal(one('create unique index x on lockstep.message (id);'), 1)
})
