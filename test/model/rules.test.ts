import { randomInt } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  judgeEntries,
  judgeTime,
  judgeSoon,
  type JudgedEntry,
} from '../../projector/facts/judge.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { definitions, DEGREE_METRES, geofence, rule } from '../projector/facts/judging.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import { expectedOf, LATER, type ModelRule, type Said, type Told } from './rules-model.ts'

const RUNS = Number(process.env['MODEL_RUNS'] ?? 200)
const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31))
const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
/**
 * Here a metre to the north is a metre along one axis, so stops are exactly as wide as in the
 * model.
 */
const MIDDLE = { latitude: 0, longitude: 90 }
const yard = geofence({ shape: { type: 'circle', ...MIDDLE, radius: 60 } })

const rules: fc.Arbitrary<ModelRule> = fc.record({
  when: fc.constantFrom<ModelRule['when'][]>(
    { field: 'speed', above: 10 },
    { field: 'speed', above: 10, clear: 5 },
    { field: 'speed', below: 6 },
    { field: 'battery', below: 0.2 },
    { field: 'battery', below: 0.2, clear: 0.4 },
    { field: 'door', is: true },
    { inside: yard.id },
    { outside: yard.id },
    { stopped: true },
    { stopped: true },
    { silent: true },
  ),
  forSeconds: fc.constantFrom(0, 10, 60, 90, 600),
  isLocal: fc.constantFrom(false, false, true),
  changedAfter: fc.constantFrom(undefined, undefined, undefined, 2, 8),
})

const steps = fc.array(
  fc.record({
    after: fc.constantFrom(1, 9, 10, 30, 60, 90, 200, 299),
    // The middle, just inside and outside the edge, beyond the tolerance, a stop's width and
    // beyond, and far away.
    north: fc.constantFrom(undefined, 0, 55, 70, 90, 150, 260, 1_000),
    isResting: fc.constantFrom(false, true, true),
    /** Most positions are sent immediately; some later, some by a clock that is ahead. */
    ago: fc.constantFrom(0, 0, 0, 0, 0, 5, 40, 400, -60),
    /** Repeats this position, counted back from the last one sent. */
    repeats: fc.option(fc.constantFrom(0, 0, 1, 2), { freq: 7 }),
    speed: fc.constantFrom(undefined, 5, 7, 10, 12),
    battery: fc.constantFrom(undefined, 0.1, 0.2, 0.3, 0.5),
    door: fc.constantFrom(undefined, true, false),
    /** A batch starts here, after sweeps at these fractions of the time since the last input. */
    isCut: fc.boolean(),
    sweeps: fc.array(fc.constantFrom(0, 0.5, 0.9, 1), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
)

test(`rules are raised and cleared as in the model, for any batches and sweeps: ${RUNS} runs, seed ${SEED}`, () => {
  let told = 0
  fc.assert(
    fc.property(fc.array(rules, { minLength: 1, maxLength: 4 }), steps, (chosen, taken) => {
      const defined = chosen.map((one) => asRule(one))
      const facts = decided(taken, chosen, defined)
      expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
      for (const [n, one] of chosen.entries()) {
        const wanted = expectedOf(asJudged(one), said(taken), endOf(taken))
        told += wanted.length
        expect(ofRule(facts, defined[n]!.id)).toEqual(wanted)
      }
    }),
    { numRuns: RUNS, seed: SEED },
  )
  // A single run may decide nothing.
  if (RUNS >= 50) expect(told).toBeGreaterThan(RUNS)
}, 14_400_000)

type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never

/** A rule about silence needs a duration and does not apply here. */
function asJudged(one: ModelRule): ModelRule {
  if (!('silent' in one.when)) return one
  return { ...one, forSeconds: Math.max(10, one.forSeconds), isLocal: false }
}

function asRule(one: ModelRule) {
  const { when, forSeconds, isLocal } = asJudged(one)
  return rule({ when, forSeconds, ...(isLocal && { geofenceIds: [yard.id] }) })
}

function decided(
  taken: readonly Step[],
  chosen: readonly ModelRule[],
  defined: readonly ReturnType<typeof rule>[],
): DeviceFact[] {
  let known = defined
  const judging = () => ({
    ...device,
    definitions: definitions({ geofences: [yard], rules: known }),
    hearing: { since: 0, graceMs: 0 },
    decidedAt: T0,
  })
  const facts: DeviceFact[] = []
  let state: FactState | undefined
  let batch: JudgedEntry[] = []
  const take = (judged: { state: FactState; facts: readonly DeviceFact[] }) => {
    // In its stored form.
    state = JSON.parse(JSON.stringify(judged.state)) as FactState
    facts.push(...judged.facts)
  }
  const flush = () => {
    if (batch.length > 0) take(judgeEntries(state, batch, judging()))
    batch = []
  }
  const change = (changed: ReadonlySet<number>, changedAt: number) => {
    flush()
    if (state !== undefined) {
      take(judgeTime(state, changedAt, judging()))
      state = judgeSoon(state, changedAt)
    }
    known = known.map((one, n) => (changed.has(n) ? { ...one, revision: 2, changedAt } : one))
  }
  let before = 0
  for (const [offset, one] of said(taken).entries()) {
    const step = taken[offset]!
    if (step.isCut) {
      flush()
      for (const part of [...step.sweeps].sort((a, b) => a - b)) {
        const now = T0 + 1_000 * Math.floor(before + part * (one.at - before))
        // A sweep lets time pass up to the next input, not at it.
        if (state !== undefined && now < T0 + 1_000 * one.at) take(judgeTime(state, now, judging()))
      }
    }
    batch.push(entryOf(one, offset))
    before = one.at
    const changed = chosen.flatMap(({ changedAfter }, n) => (changedAfter === offset ? [n] : []))
    if (changed.length > 0) change(new Set(changed), T0 + 1_000 * (one.at + LATER))
  }
  flush()
  if (state !== undefined) take(judgeTime(state, T0 + 1_000 * endOf(taken), judging()))
  return facts
}

function said(taken: readonly Step[]): Said[] {
  const inputs: Said[] = []
  const positions: number[] = []
  let at = 0
  let place: number | undefined
  for (const { after, north: next, isResting, ago, repeats, speed, battery, door } of taken) {
    at += after
    const north = next !== undefined && isResting ? (place ?? next) : next
    place = north ?? place
    const repeated = repeats === null ? undefined : positions.at(-1 - repeats)
    if (repeated !== undefined) {
      inputs.push({ ...inputs[repeated]!, at, repeats: repeated })
      continue
    }
    if (north !== undefined) positions.push(inputs.length)
    inputs.push({
      at,
      ...(north !== undefined && { made: at - ago, north }),
      values: {
        // A heartbeat has no speed.
        ...(speed !== undefined && north !== undefined && { speed }),
        ...(battery !== undefined && { battery }),
        ...(door !== undefined && { door }),
      },
    })
  }
  return inputs
}

function endOf(taken: readonly Step[]): number {
  return 1_000 + taken.reduce((sum, { after }) => sum + after, 0)
}

function entryOf({ at, made, north, repeats, values }: Said, offset: number): JudgedEntry {
  const receivedAt = T0 + 1_000 * at
  const origin = { partition: 0, offset }
  const { door, speed, battery } = values
  const fields = {
    ...device,
    receivedAt,
    ...(battery !== undefined && { battery: Number(battery) }),
    ...(door !== undefined && { attributes: { door } }),
  }
  if (made === undefined || north === undefined) {
    return { kind: 'seen', origin, event: deviceSeen(fields) }
  }
  const event = positionReported({
    ...fields,
    recordId: `record-${repeats ?? offset}`,
    timestamp: T0 + 1_000 * made,
    latitude: MIDDLE.latitude + north / DEGREE_METRES,
    longitude: MIDDLE.longitude,
    ...(speed !== undefined && { speed: Number(speed) }),
  })
  return { kind: repeats === undefined ? 'position' : 'repeat', origin, event }
}

function ofRule(facts: readonly DeviceFact[], id: string): Told[] {
  return facts.flatMap((fact): Told[] => {
    if (fact.type !== 'rule.raised' && fact.type !== 'rule.cleared') return []
    const what = fact.type === 'rule.raised' ? 'raised' : 'cleared'
    return fact.rule.id === id ? [[what, (fact.at - T0) / 1_000]] : []
  })
}
