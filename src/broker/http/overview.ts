// The whole at a glance: sums over queues by namespace and task, what is behind, and what was done lately. All of it is read
// from the rows when asked for; nothing is collected in the background but the counts per minute.
import { activitySeries } from '../../operations/read-activity.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { listQueues } from '../../operations/list-queues.ts'
import type { Executor } from '../../db/executor.ts'
import type { MessageCounts, QueueSummary } from '../../protocol/queue-info.ts'
import { reading } from './read-call.ts'
import { readRoute } from './read-route.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const NONE: MessageCounts = { total: 0, pending: 0, processing: 0, completed: 0, deadLetter: 0 }

export function sumOf(queues: readonly QueueSummary[]): MessageCounts {
  return queues.reduce(
    (sum, { messages }) => ({
      total: sum.total + messages.total,
      pending: sum.pending + messages.pending,
      processing: sum.processing + messages.processing,
      completed: sum.completed + messages.completed,
      deadLetter: sum.deadLetter + messages.deadLetter,
    }),
    NONE,
  )
}

/** Per second, over the last full minute. */
export async function throughput(db: Executor): Promise<{ ingestedPerSecond: number; processedPerSecond: number }> {
  const points = await activitySeries(db, { from: null, to: null, bucketMinutes: 1, queue: null })
  const last = points.at(-2)
  return { ingestedPerSecond: (last?.pushed ?? 0) / 60, processedPerSecond: (last?.delivered ?? 0) / 60 }
}

async function overview(call: Call): Promise<Answer> {
  const [queues, groups, rates] = await reading(call, async (db) => [
    await listQueues(db),
    await listGroups(db),
    await throughput(db),
  ])
  return json(
    JSON.stringify({
      queues: queues.length,
      partitions: queues.reduce((sum, queue) => sum + queue.partitions, 0),
      namespaces: distinct(queues, 'namespace').length,
      tasks: distinct(queues, 'task').length,
      messages: { ...sumOf(queues), failed: null },
      lag: {
        total: groups.reduce((sum, group) => sum + group.totalLag, 0),
        maxSeconds: Math.max(0, ...groups.map((group) => group.maxTimeLagSeconds)),
        time: spread(groups.map((group) => group.maxTimeLagSeconds)),
        offset: spread(groups.map((group) => group.totalLag)),
      },
      throughput: rates,
      timestamp: new Date().toISOString(),
      statsAge: 0,
    }),
  )
}

/** Over the groups; zeros when there are none. */
function spread(values: readonly number[]): { readonly avg: number; readonly min: number; readonly max: number } {
  if (values.length === 0) return { avg: 0, min: 0, max: 0 }
  const avg = values.reduce((sum, value) => sum + value, 0) / values.length
  return { avg, min: Math.min(...values), max: Math.max(...values) }
}

const distinct = (queues: readonly QueueSummary[], by: 'namespace' | 'task'): readonly string[] =>
  [...new Set(queues.map((queue) => queue[by]).filter((name) => name !== ''))].toSorted()

const grouped =
  (by: 'namespace' | 'task') =>
  async (call: Call): Promise<Answer> => {
    const queues = await reading(call, (db) => listQueues(db))
    const listed = distinct(queues, by).map((name) => {
      const own = queues.filter((queue) => queue[by] === name)
      const { total, pending } = sumOf(own)
      const partitions = own.reduce((sum, queue) => sum + queue.partitions, 0)
      return { [by]: name, queues: own.length, partitions, messages: { total, pending } }
    })
    return json(JSON.stringify({ [`${by}s`]: listed }))
  }

export const overviewRoutes: readonly Route[] = [
  readRoute(
    '/api/v1/resources/overview',
    'Counts over all queues, the lag of all groups, and the rates of the last full minute.',
    '{"queues":1,"partitions":1,"namespaces":0,"tasks":0,"messages":{"total":1,"pending":1,"processing":0,"completed":0,"failed":null,"deadLetter":0},"lag":{"total":1,"maxSeconds":2.5,"time":{"avg":2.5,"min":2.5,"max":2.5},"offset":{"avg":1,"min":1,"max":1}},"throughput":{"ingestedPerSecond":0.1,"processedPerSecond":0.1},"timestamp":"…","statsAge":0}',
    overview,
  ),
  readRoute(
    '/api/v1/resources/namespaces',
    'Namespaces with the counts of their queues.',
    '{"namespaces":[{"namespace":"…","queues":1,"partitions":1,"messages":{"total":1,"pending":1}}]}',
    grouped('namespace'),
  ),
  readRoute(
    '/api/v1/resources/tasks',
    'Tasks with the counts of their queues.',
    '{"tasks":[{"task":"…","queues":1,"partitions":1,"messages":{"total":1,"pending":1}}]}',
    grouped('task'),
  ),
]
