import { randomInt } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { DeviceFact } from '../../schemas/facts.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { newAccountId } from '../contracts/store-samples.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../samples.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { GRACE_MS, startJudging } from './judging.ts'
import { expectedFacts, type ExpectedFact } from './facts-model.ts'

const RUNS = Number(process.env['MODEL_RUNS'] ?? 60)
const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31))
const MINUTE = 60_000

type Event =
  | { kind: 'position'; ago: number; alarm?: string; imported: boolean; spooled: boolean }
  | { kind: 'repeat'; of: number }
  | { kind: 'seen'; alarm?: string }
  | { kind: 'erase' }
type Step = {
  readonly event: Event
  readonly device: number
  readonly after: number
  readonly jitter: number
}
/** A step after an entry has reached the log. */
type Work =
  | 'nothing'
  | 'project'
  | 'crash before projecting'
  | 'crash before judging'
  | 'kill'
  | 'sweep'
  | 'rebuild'

const alarms = fc.option(fc.constantFrom('sos', 'fall', 'sos,fall'), { nil: undefined })
const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('position' as const),
      ago: fc.constantFrom(0, 0, 0, 1_000, 4 * MINUTE, 90 * MINUTE, -MINUTE),
      alarm: alarms,
      imported: fc.constantFrom(false, false, false, true),
      spooled: fc.constantFrom(false, false, true),
    }) as fc.Arbitrary<Event>,
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), of: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('seen' as const),
      alarm: alarms,
    }) as fc.Arbitrary<Event>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'erase' as const }) },
)
const steps = fc.array(
  fc.record({
    event: events,
    device: fc.nat(1),
    after: fc.constantFrom(0, 0, 1, 1_000, 3 * MINUTE, 20 * MINUTE, 60 * MINUTE, 3 * 60 * MINUTE),
    jitter: fc.nat(GRACE_MS - 1),
  }),
  { minLength: 1, maxLength: 14 },
)
const works = fc.array(
  fc.constantFrom<Work>(
    ...(['nothing', 'nothing', 'project', 'project', 'sweep'] as const),
    ...(['crash before projecting', 'crash before judging', 'kill', 'kill', 'rebuild'] as const),
  ),
  { minLength: 14, maxLength: 14 },
)

const accountId = newAccountId()
const clock = { time: T0, now: () => clock.time }

/** Puts the steps into the log, working between them; then projects and sweeps until nothing is left to decide. */
async function run(taken: readonly Step[], work: readonly Work[]) {
  const directory = await temporaryDirectory()
  const stores: Store[] = []
  const log: ProjectionEntry[] = []
  const start = async () => {
    const store = openSqliteStore({ directory: directory.path, clock })
    stores.push(store)
    return startJudging(store, log, { clock })
  }
  try {
    let judging = await start()
    await judging.store.beginFacts({})
    for (const [n, step] of taken.entries()) {
      clock.time += step.after
      log.push(entryOf(step, log))
      const now = work[n]
      if (now === 'sweep') await judging.sweep()
      else if (now === 'rebuild') await judging.rebuild()
      else if (now === 'crash before projecting')
        await judging.project({ crash: 'before projecting' })
      else if (now === 'crash before judging') await judging.project({ crash: 'before judging' })
      else if (now !== 'nothing') await judging.project()
      // Its store stays open: what it has not written by now is lost.
      if (now === 'kill') judging = await start()
    }
    clock.time += 24 * 60 * MINUTE
    await judging.sweep()
    return { log, facts: await judging.store.pageFacts({ accountId, limit: 1_000 }) }
  } finally {
    for (const store of stores) await store.close()
    await directory.remove()
  }
}

function entryOf(
  { event, device, jitter }: Step,
  earlier: readonly ProjectionEntry[],
): ProjectionEntry {
  const origin = { partition: 0, offset: earlier.length }
  const deviceId = `device-${device}`
  const receivedAt = clock.time - jitter
  const names = { accountId, deviceId }
  const attributes = 'alarm' in event &&
    event.alarm !== undefined && { attributes: { alarm: event.alarm } }
  if (event.kind === 'erase') {
    return { kind: 'erasure', origin, event: deviceErased({ ...names, erasedAt: receivedAt }) }
  }
  const positions = earlier.filter(
    (entry) => entry.kind === 'position' && entry.event.deviceId === deviceId,
  )
  const repeated = event.kind === 'repeat' ? positions.at(-1 - event.of) : undefined
  if (repeated !== undefined) {
    const again = repeated.event as PositionReported
    return { kind: 'position', origin, event: { ...again, receivedAt } }
  }
  if (event.kind !== 'position') {
    return { kind: 'seen', origin, event: deviceSeen({ ...names, receivedAt, ...attributes }) }
  }
  const { ago, imported, spooled } = event
  return {
    kind: 'position',
    origin,
    event: positionReported({
      ...names,
      receivedAt,
      timestamp: receivedAt - ago,
      ...attributes,
      ...(imported && { imported }),
    }),
    ...(spooled && { spooled }),
  }
}

/** In the order of devices and sequences. */
function told(facts: readonly DeviceFact[]): ExpectedFact[] {
  return inOrder(
    facts.map((fact) => [fact.deviceId, fact.sequence, fact.type, fact.at, detailOf(fact)]),
  )
}

function detailOf(fact: DeviceFact): string {
  if (fact.type === 'device.online') return String(fact.previous)
  return fact.type === 'alarm.reported' ? `${fact.alarm} ${fact.late}` : ''
}

function inOrder(facts: readonly ExpectedFact[]): ExpectedFact[] {
  return [...facts].sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] < b[0] ? -1 : 1))
}

test(`facts are those of the model through any batches, crashes, sweeps and rebuilds: ${RUNS} runs, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(steps, works, async (taken, work) => {
      const { log, facts } = await run(taken, work)
      expect(told(facts)).toEqual(inOrder(expectedFacts(log, clock.time - GRACE_MS)))
    }),
    { numRuns: RUNS, seed: SEED },
  )
}, 1_800_000)
