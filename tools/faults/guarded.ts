// Planted faults of what guards: tokens, sealed payloads, the audit, readers beside the groups, a stream's lease and its time. They
// stand beside tools/faults/planted.ts.
import type { PlantedFault } from './planted.ts'

export const GUARDED: readonly PlantedFault[] = [
  {
    law: 7,
    what: 'a token is good after its time',
    file: '.build/src/broker/auth/judge-claims.js',
    from: 'expires <= nowSeconds - skew',
    to: 'false',
    caught: ['test/http/forged-tokens', 'five thousand'],
  },
  {
    law: 7,
    what: 'a role that reads may write',
    file: '.build/src/broker/auth/roles.js',
    from: `'read-only': ['public', 'read-only'],`,
    to: `'read-only': ['public', 'read-only', 'read-write'],`,
    caught: ['test/http/auth', 'every route with every role'],
  },
  {
    law: 10,
    what: 'a sealed payload opens in the place of another message',
    file: '.build/src/db/vault/seal.js',
    from: '\\0${partition}\\0${messageId}`);',
    to: '\\0${partition}`);',
    caught: ['test/integration/encryption', 'rows that were swapped'],
  },
  {
    law: 10,
    what: 'plain payloads enter an encrypted queue',
    file: 'sql/functions/encryption/_demand_sealed.sql',
    from: 'and exists (select from encryption_key) then',
    to: 'and false then',
    caught: ['test/integration/encryption', 'without keys nothing plain enters'],
  },
  {
    law: 4,
    what: 'a pop leases what its process cannot open',
    file: 'sql/functions/encryption/_demand_keys.sql',
    from: '<> all (p_keys)',
    to: 'is null',
    caught: ['test/integration/encryption', 'without keys nothing plain enters'],
  },
  {
    law: 1,
    what: 'a deletion leaves no note',
    file: 'sql/functions/queue/delete_queue.sql',
    from: `perform lockstep._audit('delete_queue'`,
    to: `perform json_build_array('delete_queue'`,
    caught: ['test/http/audit', 'deletions, seeks'],
  },
  {
    law: 3,
    what: 'a reader of changes goes on from an instant before which writes are on their way',
    file: 'sql/functions/queue/changed_partitions.sql',
    from: 'least(v_now, v_eldest,',
    to: 'least(v_now,',
    caught: ['test/http/fetch', 'a write on its way holds safeTime back'],
  },
  {
    law: 4,
    what: 'what a stream remembers is kept of a cycle that lost',
    file: 'sql/functions/stream/stream_cycle.sql',
    from: "if result::json ->> 'success' <> 'true' then",
    to: 'if false then',
    caught: ['test/http/streams', 'a cycle whose lease is lost'],
  },
  {
    law: 5,
    what: 'a window is over before its grace is',
    file: 'sql/functions/stream/stream_ripe.sql',
    from: '* 1000 - p_grace_ms;',
    to: '* 1000;',
    caught: ['test/http/stream-claims', 'what is over is found'],
  },
]
