// Schedules over HTTP: declared, listed, looked at ahead, paused, started by hand, removed. When they fire is upkeep's business.
import { deleteSchedule } from '../../operations/delete-schedule.ts'
import { listSchedules } from '../../operations/list-schedules.ts'
import { pauseSchedule } from '../../operations/pause-schedule.ts'
import { previewSchedule } from '../../operations/preview-schedule.ts'
import { putSchedule } from '../../operations/put-schedule.ts'
import { triggerSchedule } from '../../operations/trigger-schedule.ts'
import { root } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { encodeSchedule } from '../../protocol/schedule-answers.ts'
import {
  decodePreview,
  decodeSchedule,
  PREVIEW_BODY,
  SCHEDULE_BODY,
  scheduleName,
} from '../../protocol/schedule-request.ts'
import { bodyText } from './read-body.ts'
import { noting, reading, writing } from './read-call.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const nameOf = (call: Call): string => scheduleName.read(call.params['name'], root(), 'name')

const noSuch = (name: string): LockstepError => new LockstepError('not_found', `no schedule is called '${name}'`)

async function list(call: Call): Promise<Answer> {
  const schedules = await reading(call, (db) => listSchedules(db, null))
  return json(`{"schedules":[${schedules.map(encodeSchedule).join(',')}]}`)
}

async function show(call: Call): Promise<Answer> {
  const name = nameOf(call)
  const [schedule] = await reading(call, (db) => listSchedules(db, name))
  if (schedule === undefined) throw noSuch(name)
  return json(encodeSchedule(schedule))
}

async function put(call: Call): Promise<Answer> {
  const definition = decodeSchedule(nameOf(call), bodyText(call.body))
  const outcome = await writing(call, (db) => putSchedule(db, definition))
  return json(JSON.stringify({ name: definition.name, outcome }), outcome === 'created' ? 201 : 200)
}

async function preview(call: Call): Promise<Answer> {
  const { count, ...rhythm } = decodePreview(bodyText(call.body))
  return json(JSON.stringify({ slots: await reading(call, (db) => previewSchedule(db, rhythm, count)) }))
}

async function setPaused(call: Call, paused: boolean): Promise<Answer> {
  const name = nameOf(call)
  if (!(await writing(call, (db) => pauseSchedule(db, name, paused)))) throw noSuch(name)
  return json(JSON.stringify({ name, paused }))
}

async function trigger(call: Call): Promise<Answer> {
  const name = nameOf(call)
  const runId = await writing(call, (db) => triggerSchedule(db, name))
  call.parts.runs.wake(null)
  return json(JSON.stringify({ name, runId }), 201)
}

async function remove(call: Call): Promise<Answer> {
  const name = nameOf(call)
  return json(JSON.stringify({ name, existed: await noting(call, (db) => deleteSchedule(db, name)) }))
}

const NONE = 'There is no schedule of this name.'
const SCHEDULE =
  '{"name":"…","cron":"…","zone":"UTC","intervalMs":null,"target":"…","priority":0,"misfire":"once","overlap":"allow","paused":false,"nextAt":"…","lastRun":"…","lastSlots":[{"dueAt":"…","outcome":"fired|missed|overlapped","runId":"…"}],"input":…}'

const read = { access: 'read-only' as const, rank: 'B' as const, changes: false }
const change = { access: 'read-write' as const, rank: 'B' as const, changes: true }

export const scheduleRoutes: readonly Route[] = [
  {
    ...read,
    method: 'GET',
    path: '/api/v1/schedules',
    about: 'All schedules with their next slot and what became of the last five.',
    answers: { 200: `{"schedules":[${SCHEDULE}]}` },
    handle: list,
  },
  {
    ...read,
    method: 'POST',
    path: '/api/v1/schedules/preview',
    about: 'The next slots of a cron expression in a zone, or of an interval. Nothing is stored.',
    body: PREVIEW_BODY,
    answers: { 200: '{"slots":["2026-03-29T01:00:00.000Z"]}' },
    handle: preview,
  },
  {
    ...read,
    method: 'GET',
    path: '/api/v1/schedules/:name',
    about: 'One schedule.',
    answers: { 200: SCHEDULE, 404: NONE },
    handle: show,
  },
  {
    ...change,
    method: 'PUT',
    path: '/api/v1/schedules/:name',
    about:
      'Creates or changes a schedule, with the `input` of its runs. The same definition again changes nothing, from any number of processes.',
    body: SCHEDULE_BODY,
    answers: { 200: '{"name":"…","outcome":"changed|unchanged"}', 201: '{"name":"…","outcome":"created"}' },
    handle: put,
  },
  {
    ...change,
    method: 'DELETE',
    path: '/api/v1/schedules/:name',
    about: 'Removes a schedule; the runs it started go on.',
    answers: { 200: '{"name":"…","existed":true}' },
    handle: remove,
  },
  {
    ...change,
    method: 'POST',
    path: '/api/v1/schedules/:name/pause',
    about: 'Stops a schedule from firing.',
    answers: { 200: '{"name":"…","paused":true}', 404: NONE },
    handle: (call) => setPaused(call, true),
  },
  {
    ...change,
    method: 'POST',
    path: '/api/v1/schedules/:name/resume',
    about: 'Lets a paused schedule fire again, from its first slot after now.',
    answers: { 200: '{"name":"…","paused":false}', 404: NONE },
    handle: (call) => setPaused(call, false),
  },
  {
    ...change,
    method: 'POST',
    path: '/api/v1/schedules/:name/trigger',
    about: 'Starts a run of a schedule now, outside of its slots.',
    answers: {
      201: '{"name":"…","runId":"…"}',
      404: 'There is no such schedule, or nobody has registered its target.',
    },
    handle: trigger,
  },
]
