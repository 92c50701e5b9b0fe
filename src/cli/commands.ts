// All commands in one table, in the order of the help. The parser, the help and docs/reference/cli.md are made from it.

import type { Command } from './command.ts'
import { auditList } from './commands/audit-list.ts'
import { dev } from './commands/dev.ts'
import { dlqList } from './commands/dlq-list.ts'
import { dlqPurge } from './commands/dlq-purge.ts'
import { dlqReplay } from './commands/dlq-replay.ts'
import { dlqShow } from './commands/dlq-show.ts'
import { doctor } from './commands/doctor.ts'
import { groupList } from './commands/group-list.ts'
import { groupSeek } from './commands/group-seek.ts'
import { keysList } from './commands/keys-list.ts'
import { keysRotate } from './commands/keys-rotate.ts'
import { kvDelete } from './commands/kv-delete.ts'
import { kvGet } from './commands/kv-get.ts'
import { kvList } from './commands/kv-list.ts'
import { kvPut } from './commands/kv-put.ts'
import { migrateCommand } from './commands/migrate.ts'
import { queueDelete } from './commands/queue-delete.ts'
import { queueList } from './commands/queue-list.ts'
import { queuePop } from './commands/queue-pop.ts'
import { queuePush } from './commands/queue-push.ts'
import { queueShow } from './commands/queue-show.ts'
import { runCancel } from './commands/run-cancel.ts'
import { runList } from './commands/run-list.ts'
import { runRetry } from './commands/run-retry.ts'
import { runShow } from './commands/run-show.ts'
import { runSignal } from './commands/run-signal.ts'
import { runTail } from './commands/run-tail.ts'
import { scheduleDelete } from './commands/schedule-delete.ts'
import { scheduleList } from './commands/schedule-list.ts'
import { schedulePause, scheduleResume } from './commands/schedule-pause.ts'
import { schedulePreview } from './commands/schedule-preview.ts'
import { schedulePut } from './commands/schedule-put.ts'
import { scheduleTrigger } from './commands/schedule-trigger.ts'
import { serve } from './commands/serve.ts'
import { timerCancel } from './commands/timer-cancel.ts'
import { timerList } from './commands/timer-list.ts'
import { timerShow } from './commands/timer-show.ts'
import { url } from './commands/url.ts'
import { workerCommand } from './commands/worker.ts'

export const COMMANDS: readonly Command[] = [
  dev,
  serve,
  workerCommand,
  migrateCommand,
  doctor,
  url,
  queueList,
  queueShow,
  queuePush,
  queuePop,
  queueDelete,
  kvGet,
  kvPut,
  kvDelete,
  kvList,
  timerList,
  timerShow,
  timerCancel,
  dlqList,
  dlqShow,
  dlqReplay,
  dlqPurge,
  groupList,
  groupSeek,
  keysList,
  keysRotate,
  auditList,
  runList,
  runShow,
  runTail,
  runCancel,
  runRetry,
  runSignal,
  scheduleList,
  schedulePut,
  schedulePreview,
  schedulePause,
  scheduleResume,
  scheduleTrigger,
  scheduleDelete,
]
