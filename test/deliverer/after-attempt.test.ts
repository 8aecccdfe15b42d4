import { expect, test } from '@jest/globals'
import { afterAttempt, type AttemptMade } from '../../deliverer/after-attempt.ts'
import { newProgress, type SubscriptionProgress } from '../../schemas/subscriptions/subscription.ts'
import { T0 } from '../samples.ts'

const HOUR = 3_600_000
const made = (given: Partial<AttemptMade>): AttemptMade => ({
  begunAt: T0,
  now: T0,
  random: 0.5,
  ids: ['a'],
  at: T0,
  moves: { from: 'mark', to: 'next' },
  ...given,
})
const after = (progress: SubscriptionProgress, ...attempts: Partial<AttemptMade>[]) =>
  attempts.reduce((before, attempt) => afterAttempt(before, made(attempt)), progress)

test('a receiver that fails causes warnings after 1 h and 24 h; after 72 h it is disabled and keeps its mark', () => {
  const hours = [0, 0.9, 1, 23, 24, 71.9, 72]
  const states = hours.reduce<SubscriptionProgress[]>(
    (all, hour) => [
      ...all,
      after(all.at(-1) ?? newProgress('mark'), { status: 500, now: T0 + hour * HOUR }),
    ],
    [],
  )
  expect(states.map(({ warned }) => warned)).toEqual([0, 0, 1, 1, 2, 2, 2])
  expect(states.map(({ disabledAt }) => disabledAt !== undefined).indexOf(true)).toBe(6)
  expect(states.at(-1)).toMatchObject({ mark: 'mark', failingSince: T0, lastError: 'status 500' })
})

test('a success ends a failure and its warnings', () => {
  const failed = after(newProgress('mark'), { error: 'no such host' }, { status: 503 })
  expect(failed.attempt).toEqual({ failures: 2, refusals: 0, nextAt: T0 + 30_000 })
  const { attempt, failingSince, lastError, warned, mark } = after(failed, { status: 200 })
  expect([attempt, failingSince, lastError, warned]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(mark).toBe('next')
})

test("an operator's change of the mark during a request takes precedence", () => {
  const moved = { ...newProgress('elsewhere') }
  expect(after(moved, { status: 200 }).mark).toBe('elsewhere')
})

test('100 rejected items in a row are set aside; then the receiver counts as failing', () => {
  let progress = newProgress('mark')
  for (let n = 0; n < 100; n += 1) {
    const refused = { status: 422, ids: [`item-${n}`] }
    progress = after(progress, refused, refused, refused)
  }
  expect(progress).toMatchObject({ setAsideInARow: 100 })
  expect(progress.failingSince).toBeUndefined()
  expect(progress.setAside).toHaveLength(100)
  expect(after(progress, { status: 422 }).failingSince).toBe(T0)
  expect(after(progress, { status: 200 }).setAsideInARow).toBe(0)
})

test('a rejected batch does not count as a failure', () => {
  const progress = after(newProgress('mark'), { status: 413, ids: ['a', 'b'] })
  expect([progress.attempt, progress.failingSince, progress.mark]).toEqual([
    undefined,
    undefined,
    'mark',
  ])
})

test('attempts are counted per item: a resent item gets three more', () => {
  const once = after(newProgress('mark'), { status: 422, ids: ['next'] })
  const asked = { ...once, resend: ['again'] }
  const again = { status: 422, ids: ['again'], moves: undefined } as unknown as AttemptMade
  const twice = after(asked, again, again)
  expect([twice.setAside, twice.resend]).toEqual([[], ['again']])
  const thrice = after(twice, again)
  expect([thrice.setAside.map(({ id }) => id), thrice.resend]).toEqual([['again'], []])
  expect(after(thrice, { status: 422, ids: ['next'] }).attempt?.refusals).toBe(1)
})

test('after 100 rejected items, one bad item does not keep a repaired receiver from the next item', () => {
  const broken = { ...newProgress('mark'), setAsideInARow: 100 }
  const bad = { status: 422, ids: ['bad'] }
  const twice = after(broken, bad, bad)
  expect(twice).toMatchObject({ mark: 'mark', failingSince: T0, attempt: { failures: 2 } })
  const thrice = after(twice, bad)
  // The receiver counts as failing until it accepts an item.
  expect(thrice).toMatchObject({ mark: 'next', failingSince: T0, attempt: { failures: 3 } })
  expect(thrice.setAside.map(({ id }) => id)).toEqual(['bad'])
  const mended = after(thrice, { status: 200, ids: ['good'], moves: { from: 'next', to: 'last' } })
  expect(mended).toMatchObject({ mark: 'last', setAsideInARow: 0 })
  expect(mended.failingSince).toBeUndefined()
})
