import { randomInt } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { judgeEntries, judgeTime, type JudgedEntry } from '../../../projector/facts/judge.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { eraseState, type JudgedDevice } from '../../../store/facts.ts'
import type { ErasureEntry } from '../../../store/read-models.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../../samples.ts'
import { at, definitions, geofence, HOME, rule } from './judging.ts'

const RUNS = Number(process.env['MODEL_RUNS'] ?? 150)
const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31))
const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
const circle = (radius: number) => ({ type: 'circle', ...HOME, radius }) as const

const geofences = [
  geofence({ shape: circle(60), confirmSeconds: 30 }),
  geofence({ shape: circle(200) }),
  geofence({ shape: circle(300), confirmSeconds: 120 }),
]
const places = geofences.map(({ id }) => id)
const rules = [
  ...places.flatMap((id) => [
    rule({ when: { field: 'speed', above: 10 }, geofenceIds: [id] }),
    rule({ when: { silent: true }, forSeconds: 20, geofenceIds: [id] }),
    rule({ when: { inside: id }, forSeconds: 40 }),
    rule({ when: { outside: id } }),
  ]),
  rule({ when: { field: 'battery', below: 0.2, clear: 0.4 } }),
  rule({ when: { stopped: true } }),
  rule({ when: { silent: true }, forSeconds: 60 }),
]

const said = fc.record({
  kind: fc.constantFrom('position', 'position', 'position', 'repeat', 'heartbeat', 'erasure'),
  after: fc.constantFrom(0, 0, 1, 10, 10, 20, 40, 90, 400),
  ago: fc.constantFrom(0, 0, 0, 0, 5, 60, -30),
  north: fc.constantFrom(0, 50, 90, 190, 260, 270, 350, 1_000),
  speed: fc.constantFrom(undefined, 3, 12),
  battery: fc.constantFrom(undefined, 0.1, 0.3, 0.9),
  alarm: fc.constantFrom(undefined, undefined, 'sos', 'SOS,fall'),
  /** A batch ends before it; then this many entries are read again. */
  isCut: fc.boolean(),
  again: fc.nat(3),
  /** A sweep in between, as a fraction of the time until the entry. */
  sweep: fc.constantFrom(undefined, 0, 0.5, 0.99),
})
type Said = typeof said extends fc.Arbitrary<infer Value> ? Value : never

test(`fact ids are unique, sequences have no gaps, and facts are the same however the log is cut, reread or swept: ${RUNS} runs, seed ${SEED}`, () => {
  let decided = 0
  fc.assert(
    fc.property(
      fc.array(said, { minLength: 1, maxLength: 30 }),
      fc.subarray(geofences),
      fc.subarray(rules),
      (steps, places, about) => {
        const known = definitions({ geofences: places, rules: about })
        const log = entriesOf(steps)
        const apart = inPieces(log, steps, known)
        expect(apart).toEqual(inPieces(log, [], known))
        expect(new Set(apart.map(({ id }) => id)).size).toBe(apart.length)
        let last = 0
        for (const { sequence } of apart) {
          // Starts at 1 again after an erasure.
          expect([last + 1, 1]).toContain(sequence)
          last = sequence
        }
        decided += apart.length
      },
    ),
    { numRuns: RUNS, seed: SEED },
  )
  if (RUNS >= 50) expect(decided).toBeGreaterThan(RUNS)
}, 1_800_000)

type Entry = JudgedEntry | ErasureEntry

function entriesOf(steps: readonly Said[]): Entry[] {
  const log: Entry[] = []
  let receivedAt = T0
  let last: (JudgedEntry & { kind: 'position' }) | undefined
  for (const [offset, step] of steps.entries()) {
    receivedAt += step.after * 1_000
    const origin = { partition: 0, offset }
    const { battery, alarm, speed } = step
    const fields = {
      ...device,
      receivedAt,
      ...(battery !== undefined && { battery }),
      ...(alarm !== undefined && { attributes: { alarm } }),
    }
    if (step.kind === 'erasure') {
      log.push({
        kind: 'erasure',
        origin,
        event: deviceErased({ ...device, erasedAt: receivedAt }),
      })
      last = undefined
    } else if (step.kind === 'heartbeat') {
      log.push({ kind: 'seen', origin, event: deviceSeen(fields) })
    } else if (step.kind === 'repeat' && last !== undefined) {
      log.push({ kind: 'repeat', origin, event: { ...last.event, ...fields } })
    } else {
      const { latitude, longitude } = at(0, { north: step.north }).position
      const timestamp = receivedAt - step.ago * 1_000
      const place = { latitude, longitude, timestamp, ...(speed !== undefined && { speed }) }
      last = { kind: 'position', origin, event: positionReported({ ...fields, ...place }) }
      log.push(last)
    }
  }
  return log
}

/** The facts decided from the log, in batches set by the steps; without steps, in one batch. */
function inPieces(
  log: readonly Entry[],
  steps: readonly Said[],
  known: ReturnType<typeof definitions>,
): DeviceFact[] {
  const judging = {
    ...device,
    definitions: { ...known, offlineAfterMs: 300_000 },
    hearing: { since: 0, graceMs: 0 },
    decidedAt: T0,
  }
  const facts: DeviceFact[] = []
  let state: FactState | undefined
  const take = (judged: JudgedDevice) => {
    // In its stored form.
    state = JSON.parse(JSON.stringify(judged.state)) as FactState
    facts.push(...judged.facts)
  }
  let batch: JudgedEntry[] = []
  const judge = () => {
    if (batch.length > 0) take(judgeEntries(state, batch, judging))
  }
  for (const [n, entry] of log.entries()) {
    const step = steps[n]
    if (entry.kind === 'erasure') {
      judge()
      batch = []
      state = eraseState(state, entry) ?? state
      continue
    }
    if (step?.isCut === true) {
      judge()
      const before = batch.at(-1)?.event.receivedAt
      batch = batch.slice(batch.length - step.again)
      const now =
        before === undefined || step.sweep === undefined
          ? undefined
          : before + Math.floor(step.sweep * (entry.event.receivedAt - before))
      if (state !== undefined && now !== undefined && now < entry.event.receivedAt) {
        take(judgeTime(state, now, judging))
      }
    }
    batch.push(entry)
  }
  judge()
  const end = T0 + 1_000 * 30 * 500
  if (state !== undefined) take(judgeTime(state, end, judging))
  return facts
}
