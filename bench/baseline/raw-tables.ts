// The floor of this machine in SQL: the same work as bare statements on bare tables, without checks, duplicate
// detection, groups or staging. What Lockstep adds is read from the ratio.
import { Client } from 'pg'

const SETUP = `
drop schema if exists bench cascade;
create schema bench;
create table bench.head (partition int primary key, next bigint not null) with (fillfactor = 50);
create table bench.log (partition int, off bigint, tx text not null, payload text not null, primary key (partition, off));
create table bench.cursor (partition int primary key, committed bigint not null, lease text) with (fillfactor = 50);
create table bench.state (key text primary key, value text not null, version bigint not null) with (fillfactor = 50);
insert into bench.head select p, 0 from generate_series(0, 999) p;
insert into bench.cursor select p, 0 from generate_series(0, 999) p;
insert into bench.state select 'k-' || p, '{}', 0 from generate_series(0, 999) p;
`

export const RAW = {
  push: `with moved as (update bench.head set next = next + cardinality($2::text[]) where partition = $1::int returning next - cardinality($2::text[]) as first)
insert into bench.log select $1::int, m.first + i.ord - 1, i.tx, i.payload from moved m cross join unnest($2::text[], $3::text[]) with ordinality i(tx, payload, ord)`,
  pop: `with taken as (update bench.cursor set lease = $2 where partition = $1::int returning committed)
select l.off, l.tx, l.payload from taken t
cross join lateral (select * from bench.log where partition = $1::int and off >= t.committed order by off limit $3::int) l`,
  ack: 'update bench.cursor set committed = $2::bigint, lease = null where partition = $1::int',
  step: `with acked as (update bench.cursor set committed = committed + 1 where partition = $1::int returning 1),
put as (update bench.state set value = $3, version = version + 1 where key = $2 and version = $4::bigint returning 1),
moved as (update bench.head set next = next + 1 where partition = $1::int and exists (select 1 from put) returning next - 1 as first)
insert into bench.log select $1::int, first, $5, $6 from moved`,
} as const

export async function makeRawTables(connectionString: string, unique: boolean): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(SETUP + (unique ? 'create unique index log_tx on bench.log (partition, tx);' : ''))
  await client.end()
}

/** Puts `each` messages into the first `partitions` partitions. */
export async function fillRawTables(
  connectionString: string,
  partitions: number,
  each: number,
  payload: string,
): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(
    `insert into bench.log select p, o, 'tx-' || p || '-' || o, $3 from generate_series(0, $1::int - 1) p cross join generate_series(0, $2::int - 1) o`,
    [partitions, each, payload],
  )
  await client.query('vacuum analyze bench.log')
  await client.end()
}
