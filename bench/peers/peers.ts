// Every system of the comparison.
import type { Peer } from './peer.ts'
import { absurd } from './systems/absurd.ts'
import { dbos } from './systems/dbos.ts'
import { graphileLocal, graphilePlain } from './systems/graphile-worker.ts'
import { lockstep } from './systems/lockstep.ts'
import { pgBossPeer, pgBossShared } from './systems/pg-boss.ts'

export const PEERS: readonly Peer[] = [lockstep, pgBossPeer, pgBossShared, graphilePlain, graphileLocal, dbos, absurd]
