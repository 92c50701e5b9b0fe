// The verbs about schedules through the broker. All may be repeated but a trigger, which starts a run each time.
import { boolean, integer, list, oneOf, optional } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { ScheduleDefinition, ShownSchedule } from '../../protocol/schedule.ts'
import type { ScheduleCalls } from '../../workflow/run/schedule-calls.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, textIn, type Answer } from './answer-reader.ts'
import { httpCall, type HttpSettings } from './http-call.ts'

const text = optional(plainText, null)
const SCHEDULE = {
  name: plainText,
  cron: text,
  zone: plainText,
  intervalMs: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
  target: plainText,
  priority: integer(-1_000, 1_000),
  misfire: oneOf('skip', 'once', 'all'),
  overlap: oneOf('allow', 'skip'),
  paused: boolean,
  nextAt: text,
  lastRun: text,
} as const
const SLOT = { dueAt: plainText, outcome: oneOf('fired', 'missed', 'overlapped'), runId: text } as const

function shown(answer: Answer, source: ReturnType<typeof recordIn>): ShownSchedule {
  return {
    ...fieldsIn(SCHEDULE, source),
    lastSlots: recordsIn(source['lastSlots'], null).map((slot) => fieldsIn(SLOT, slot)),
    input: textIn(answer, source, 'input') ?? 'null',
  }
}

function body({ name: _name, input, ...rest }: ScheduleDefinition): string {
  return `${JSON.stringify(rest).slice(0, -1)},"input":${input}}`
}

const isMissing = (error: unknown): boolean => error instanceof LockstepError && error.code === 'not_found'

export function httpScheduleCalls(settings: HttpSettings): ScheduleCalls {
  const ALL = '/api/v1/schedules'
  const at = (name: string): string => `${ALL}/${encodeURIComponent(name)}`

  async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, sent: string | null, repeatable = true) {
    const given = sent === null ? {} : { body: sent }
    return (await httpCall(settings, { method, path, repeatable, ...given })).text
  }

  return {
    async put(definition) {
      const answered = await call('PUT', at(definition.name), body(definition))
      return fieldsIn({ outcome: oneOf('created', 'changed', 'unchanged') }, readAnswer(answered, {}).envelope).outcome
    },
    async list(name) {
      if (name === null) {
        const answer = readAnswer(
          await call('GET', ALL, null),
          inObject({ schedules: inArray(inObject({ input: CUT })) }),
        )
        return recordsIn(recordIn(answer.envelope)['schedules'], null).map((source) => shown(answer, source))
      }
      try {
        const answer = readAnswer(await call('GET', at(name), null), inObject({ input: CUT }))
        return [shown(answer, recordIn(answer.envelope))]
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    },
    async preview(rhythm, count) {
      const answered = await call('POST', `${ALL}/preview`, JSON.stringify({ ...rhythm, count }))
      return fieldsIn({ slots: list(count, plainText) }, readAnswer(answered, {}).envelope).slots
    },
    async pause(name, paused) {
      try {
        await call('POST', `${at(name)}/${paused ? 'pause' : 'resume'}`, '{}')
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },
    async trigger(name) {
      const answered = await call('POST', `${at(name)}/trigger`, '{}', false)
      return fieldsIn({ runId: plainText }, readAnswer(answered, {}).envelope).runId
    },
    delete: async (name) =>
      fieldsIn({ existed: boolean }, readAnswer(await call('DELETE', at(name), null), {}).envelope).existed,
  }
}
