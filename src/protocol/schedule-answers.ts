// Answers about schedules as JSON text. The input of their runs goes out as the bytes it was stored as.
import type { ShownSchedule } from './schedule.ts'

export function encodeSchedule(schedule: ShownSchedule): string {
  const { input, ...rest } = schedule
  return `${JSON.stringify(rest).slice(0, -1)},"input":${input}}`
}
