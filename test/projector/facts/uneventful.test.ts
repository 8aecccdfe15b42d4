import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { judgeEntries, type JudgedEntry } from '../../../projector/facts/judge.ts'
import type { DeviceDefinitions } from '../../../projector/facts/decider.ts'
import { uneventful } from '../../../projector/facts/uneventful.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import { deviceSeen, positionReported, T0 } from '../../samples.ts'
import { at, definitions, geofence, HOME, rule } from './judging.ts'

const MINUTE = 60_000
const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
const judged = { ...device, hearing: { since: 0, graceMs: 0 }, decidedAt: T0 }
const offlineAfterMs = 60 * MINUTE
const depot = geofence({ shape: { type: 'circle', ...HOME, radius: 100 } })
const choices: readonly DeviceDefinitions[] = [
  definitions({ offlineAfterMs }),
  definitions({ offlineAfterMs, geofences: [depot] }),
  definitions({ offlineAfterMs, geofences: [{ ...depot, inForceSince: T0 + MINUTE }] }),
  definitions({ offlineAfterMs, rules: [rule({ when: { stopped: true } })] }),
  definitions({ offlineAfterMs, rules: [rule({ when: { field: 'speed', above: 9 } })] }),
]
/** A device that was ever erased is always judged in full. */
const erased = { ids: [], at: 0, partition: 0 }

const said = fc.record({
  after: fc.constantFrom(0, 1, 10_000, 10_000, 10_000, 20 * MINUTE, 90 * MINUTE),
  ago: fc.constantFrom(0, 0, 0, 15_000, -MINUTE),
  north: fc.constantFrom(0, 50, 110, 500, 2_000),
  accuracy: fc.constantFrom(undefined, 5, 500),
  speed: fc.constantFrom(undefined, 3, 12),
  alarm: fc.constantFrom(undefined, undefined, undefined, 'sos'),
  kind: fc.constantFrom('position', 'position', 'position', 'repeat', 'seen'),
  partition: fc.constantFrom(0, 0, 0, 1),
  known: fc.constantFrom(...choices),
})

test('the fast path for a report that decides nothing gives the same state as judging it in full', () => {
  let short = 0
  fc.assert(
    fc.property(fc.array(said, { minLength: 2, maxLength: 20 }), (steps) => {
      let quick: FactState | undefined
      let full: FactState = { sequence: 0, applied: {}, due: null, erased }
      let receivedAt = T0
      for (const [offset, step] of steps.entries()) {
        receivedAt += step.after
        const entry = entryOf(step, receivedAt, offset)
        const judging = { ...judged, definitions: step.known }
        if (quick !== undefined && entry.kind === 'position') {
          if (uneventful(quick, entry, step.known) !== undefined) short += 1
        }
        const one = judgeEntries(quick, [entry], judging)
        const other = judgeEntries(full, [entry], judging)
        expect(one.facts).toEqual(other.facts)
        // In its stored form.
        quick = JSON.parse(JSON.stringify(one.state)) as FactState
        full = other.state
        expect({ ...quick, erased }).toEqual(full)
      }
    }),
    { numRuns: 500 },
  )
  expect(short).toBeGreaterThan(100)
})

type Said = typeof said extends fc.Arbitrary<infer Value> ? Value : never

function entryOf(step: Said, receivedAt: number, offset: number): JudgedEntry {
  const origin = { partition: step.partition, offset }
  const attributes = step.alarm === undefined ? {} : { attributes: { alarm: step.alarm } }
  if (step.kind === 'seen') {
    return { kind: 'seen', origin, event: deviceSeen({ ...device, receivedAt, ...attributes }) }
  }
  const { latitude, longitude } = at(0, { north: step.north }).position
  const times = { receivedAt, timestamp: receivedAt - step.ago }
  const event = positionReported({
    ...device,
    ...times,
    latitude,
    longitude,
    ...(step.accuracy !== undefined && { accuracy: step.accuracy }),
    ...(step.speed !== undefined && { speed: step.speed }),
    ...attributes,
  })
  return step.kind === 'repeat'
    ? { kind: 'repeat', origin, event }
    : { kind: 'position', origin, event }
}
