import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRhythm, slotsAfter } from './next-slots.ts'

const iso = (cron: string, zone: string, after: string, limit: number): string[] =>
  slotsAfter({ cron, zone, intervalMs: null }, new Date(after), limit).map((slot) => slot.toISOString())

test('an hour that the change of clocks leaves out fires at the first instant after it', () => {
  assert.deepEqual(iso('30 2 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  assert.deepEqual(iso('30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z', 2), [
    '2027-03-14T07:00:00.000Z',
    '2027-03-15T06:30:00.000Z',
  ])
})

test('an hour that comes twice fires the first time only', () => {
  assert.deepEqual(iso('30 2 * * *', 'Europe/Rome', '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
  assert.deepEqual(iso('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2), [
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ])
})

test('half an hour of change is a change too', () => {
  assert.deepEqual(iso('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', 2), [
    '2026-04-04T14:45:00.000Z',
    '2026-04-05T15:15:00.000Z',
  ])
})

test('every quarter of an hour follows elapsed time over both changes', () => {
  for (const start of ['2026-03-28T22:00:00Z', '2026-10-24T22:00:00Z']) {
    const slots = slotsAfter({ cron: '*/15 * * * *', zone: 'Europe/Rome', intervalMs: null }, new Date(start), 40)
    for (const [n, slot] of slots.entries())
      assert.equal(slot.getTime(), new Date(start).getTime() + (n + 1) * 15 * 60_000)
  }
})

test('a weekly job does not come again an hour later', () => {
  assert.deepEqual(iso('0 6 * * 1', 'Europe/Rome', '2026-10-24T00:00:00Z', 2), [
    '2026-10-26T05:00:00.000Z',
    '2026-11-02T05:00:00.000Z',
  ])
})

test('months without a 31st and years without a 29th of February are passed over', () => {
  assert.deepEqual(iso('0 0 31 * *', 'UTC', '2026-01-31T12:00:00Z', 3), [
    '2026-03-31T00:00:00.000Z',
    '2026-05-31T00:00:00.000Z',
    '2026-07-31T00:00:00.000Z',
  ])
  assert.deepEqual(iso('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 2), [
    '2028-02-29T00:00:00.000Z',
    '2032-02-29T00:00:00.000Z',
  ])
})

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const ZONES =
  'Europe/Rome America/New_York Australia/Lord_Howe Africa/Casablanca Asia/Tokyo America/Sao_Paulo Europe/Dublin Asia/Tehran Pacific/Auckland America/St_Johns Asia/Kathmandu Pacific/Apia'.split(
    ' ',
  )

test('over two years a daily job of a fixed hour fires exactly once per local date, in many zones', () => {
  const zones = LONG ? Intl.supportedValuesOf('timeZone').filter((_, n) => n % 10 === 0) : ZONES
  for (const zone of zones) {
    const local = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
    const days = LONG ? 3_652 : 731
    const slots = slotsAfter({ cron: '30 2 * * *', zone, intervalMs: null }, new Date('2026-01-01T12:00:00Z'), days)
    const dates = slots.map((slot) => local.format(slot))
    assert.equal(new Set(dates).size, days, `${zone}: a date twice`)
    for (let n = 1; n < dates.length; n += 1) {
      const gap = new Date(dates[n] ?? '').getTime() - new Date(dates[n - 1] ?? '').getTime()
      assert.equal(gap, 86_400_000, `${zone}: ${dates[n - 1]} is followed by ${dates[n]}`)
    }
  }
})

test('what is no rhythm is refused by name', () => {
  assert.throws(
    () => checkRhythm({ cron: '61 * * * *', zone: 'UTC', intervalMs: null }),
    /cron must be a cron expression/,
  )
  assert.throws(
    () => checkRhythm({ cron: '* * * * *', zone: 'Mars/Base', intervalMs: null }),
    /zone must be an IANA time zone/,
  )
  assert.throws(() => checkRhythm({ cron: '0 0 0 1 1 * 2030', zone: 'UTC', intervalMs: null }), /five or six fields/)
  assert.throws(() => checkRhythm({ cron: null, zone: 'UTC', intervalMs: 10 }), /every must be an interval/)
  assert.throws(() => checkRhythm({ cron: null, zone: 'UTC', intervalMs: null }), /cron must be/)
})
