// What the shared suite asks of one library: its real transactions, as its users write them, and our adapter over them.
import type { Completion } from '../../src/protocol/completion.ts'
import type { Joinable } from '../../src/protocol/joinable.ts'

export interface Subject<Tx> {
  readonly completion: Completion<Tx>
  readonly join: (tx: Tx) => Joinable
  /** The library's own callback transaction. */
  transaction<R>(body: (tx: Tx) => Promise<R>): Promise<R>
  /** The library's own transaction inside another one. */
  nested(tx: Tx, body: (tx: Tx) => Promise<void>): Promise<void>
  /** A user's statement as text. */
  run(tx: Tx, statement: string): Promise<void>
  /** A row of `orders` by what the library is for: its builder, model or entity. */
  insert(tx: Tx, id: bigint, status: string): Promise<void>
  /** A row that the library holds back until its unit of work is flushed. */
  readonly hold?: (tx: Tx, id: bigint) => void
  /** By name: what is no open transaction, handed over. */
  readonly wrong: Readonly<Record<string, () => unknown>>
  /** What is said to a transaction that has ended: refused by our check, rejected by the library, or run by it outside of any. */
  readonly afterEnd: 'refused' | 'rejected' | 'runs'
  /** True where the transaction's promise rejects as soon as its connection is lost. */
  readonly endsItself?: boolean
  /** How long the library lets a transaction stay open unless it is told otherwise. */
  readonly patienceMs?: number
  close(): Promise<void>
}

export type OpenSubject<Tx> = (connectionString: string) => Promise<Subject<Tx>>

/** The suite's own tables; `line` has a constraint that is judged at COMMIT. */
export const TABLES = `
  create table orders (id bigint primary key, status text not null);
  create table line (id int primary key, order_id bigint not null references orders deferrable initially deferred);
  create table done (step text primary key, input text not null);
  create function finish(step text, input text) returns text language sql
    as $$ insert into done values (step, input) returning 'finished ' || step $$;
`
