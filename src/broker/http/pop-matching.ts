// The discovery pop: the queues of a namespace or a task, by priority, looked at once each; there is no long poll. All that
// one pop brings is held under one lease.
import { matchingQueues } from '../../operations/matching-queues.ts'
import { pop } from '../../operations/pop.ts'
import type { PopOutcome } from '../../operations/pop.ts'
import type { Conflated } from '../../protocol/answers.ts'
import { readFields, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { Delivery } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { decodePop, DISCOVERY_QUERY, POP_QUERY } from '../../protocol/pop-request.ts'
import type { PopWish } from '../../protocol/pop-request.ts'
import { RANK } from '../../traffic/admission.ts'
import { delivered, POP_ANSWERS } from './pop.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

/** Several queues share the lease, so none of their own lengths applies. */
const LEASE_SECONDS = 60

async function popMatching(call: Call): Promise<Answer> {
  const query = readQuery(call.queryText)
  const { namespace, task } = readFields(DISCOVERY_QUERY, query, root())
  if (!namespace && !task) {
    return json('{"success":false,"error":"namespace or task is required","code":"bad_request","messages":[]}', 400)
  }
  const { wish } = decodePop('', null, query, call.parts.defaultMode)
  const queues = await reading(call, (db) => matchingQueues(db, { namespace: namespace || null, task: task || null }))
  // Unasked, one partition of each queue; a number asked for is the bound of the whole call.
  const partitions = query['partitions'] === undefined && !wish.conflation ? queues.length : wish.partitions
  const { messages, conflated } = await popEach(call, { ...wish, partitions }, queues)
  return delivered(call, '', wish.group, messages, conflated)
}

interface Found {
  readonly messages: readonly Delivery[]
  readonly conflated: Conflated
}

async function popEach(call: Call, wish: PopWish, queues: readonly string[]): Promise<Found> {
  const leaseId = mintId()
  const messages: Delivery[] = []
  let partitions = 0
  let characters = 0
  let conflict = false
  for (const queue of queues) {
    const batch = wish.batch - messages.length
    if (batch <= 0 || partitions >= wish.partitions || characters >= LIMITS.popBytes) break
    const found = await popOne(
      call,
      { ...wish, queue, batch, partitions: wish.partitions - partitions },
      leaseId,
    ).catch((error: unknown) => {
      // What is leased already is delivered rather than left to lapse.
      if (messages.length === 0) throw error
      return null
    })
    if (found === null) break
    const [brought = []] = found.answers
    conflict ||= found.conflation !== wish.conflation
    partitions += new Set(brought.map((message) => message.partitionId)).size
    for (const { payload } of brought) characters += payload.length
    messages.push(...brought)
  }
  return { messages, conflated: { conflation: wish.conflation, conflict } }
}

async function popOne(call: Call, wish: PopWish, leaseId: string): Promise<PopOutcome> {
  const { answers, database, traffic } = call.parts
  const leaseSeconds = wish.leaseSeconds ?? LEASE_SECONDS
  return traffic.admission.enter(RANK.pop, async () => {
    answers.demandRoom()
    return pop(database, { ...wish, leaseSeconds, leaseIds: [leaseId], floor: null, waitStaged: false })
  })
}

export const discoveryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/pop',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: 'Leases messages of every queue with this namespace or task, by priority; no long poll.',
    query: { ...DISCOVERY_QUERY, ...POP_QUERY },
    answers: POP_ANSWERS,
    handle: popMatching,
  },
]
