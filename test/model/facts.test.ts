import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { newAccountId } from '../contracts/store-samples.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../samples.ts'
import { DependencyError } from '../../runtime/errors.ts'
import {
  armFault,
  copyFiles,
  disarm,
  FaultyDatabase,
  isDead,
  killProcess,
  newProcess,
  type StatementFault,
} from './faulty-driver.ts'
import {
  Ambiguous,
  DEGREE_METRES,
  expectedFacts,
  SOUTH,
  type ExpectedFact,
  type Story,
} from './facts-model.ts'
import type { Yard } from './visits-model.ts'

jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: FaultyDatabase }))

const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.ts')
const { GRACE_MS, startJudging } = await import('./judging.ts')

const RUNS = Number(process.env['MODEL_RUNS'] ?? 20)
const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31))
const MINUTE = 60_000

type Event =
  | {
      kind: 'position'
      ago: number
      north: number
      alarm?: string
      imported: boolean
      spooled: boolean
    }
  | { kind: 'repeat'; of: number }
  | { kind: 'seen'; alarm?: string }
  | { kind: 'erase' }
  | { kind: 'disable' | 'enable' | 'suspend' | 'resume' }
  | { kind: 'redefine'; yard: Yard }
type Reported = Extract<Event, { kind: 'position' | 'repeat' | 'seen' | 'erase' }>
type Happening = { readonly event: Event; readonly device: number }
type Step = Happening & {
  readonly after: number
  readonly jitter: number
}
/** A step after an entry reaches the log. */
type Work =
  | 'nothing'
  | 'project'
  | 'project, judge later'
  | 'crash before projecting'
  | 'crash before judging'
  | 'kill'
  | 'sweep'
  | 'rebuild'
  | { readonly fault: StatementFault; readonly nth: number; readonly at: 'project' | 'sweep' }

const alarms = fc.option(fc.constantFrom('sos', 'fall', 'sos,fall'), { nil: undefined })
const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('position' as const),
      ago: fc.constantFrom(0, 0, 0, 1_000, 4 * MINUTE, 90 * MINUTE, -MINUTE),
      // In the middle, near the edge and beyond its tolerance, in and around another shape.
      north: fc.constantFrom(0, 0, 0, 70, 90, 300, 400, 470, 1_000, 1_000),
      alarm: alarms,
      imported: fc.constantFrom(false, false, false, true),
      spooled: fc.constantFrom(false, false, true),
    }) as fc.Arbitrary<Event>,
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), of: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('seen' as const),
      alarm: alarms,
    }) as fc.Arbitrary<Event>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'erase' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(['disable', 'enable', 'suspend', 'resume'] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('redefine' as const),
      yard: fc.record({
        north: fc.constantFrom(0, 0, 400),
        radius: fc.constantFrom(60, 60, 350),
        confirmSeconds: fc.constantFrom(0, 60, 600),
        enabled: fc.constantFrom(true, true, false),
      }),
    }),
  },
)
const steps = fc.array(
  fc.record({
    event: events,
    device: fc.nat(1),
    after: fc.constantFrom(
      0,
      0,
      1,
      1_000,
      MINUTE / 2,
      3 * MINUTE,
      20 * MINUTE,
      60 * MINUTE,
      3 * 60 * MINUTE,
    ),
    jitter: fc.nat(GRACE_MS - 1),
  }),
  { minLength: 1, maxLength: 18, size: 'max' },
)
const works = fc.array(
  fc.oneof(
    fc.constantFrom<Work>(
      ...(['nothing', 'nothing', 'project', 'project', 'sweep'] as const),
      ...(['project, judge later', 'project, judge later'] as const),
      ...(['crash before projecting', 'crash before judging', 'kill', 'kill', 'rebuild'] as const),
    ),
    fc.record<Exclude<Work, string>>({
      fault: fc.constantFrom('dies before', 'dies after', 'busy', 'full', 'done, but fails'),
      nth: fc.integer({ min: 1, max: 30 }),
      at: fc.constantFrom('project', 'sweep'),
    }),
  ),
  { minLength: 18, maxLength: 18 },
)

const accountId = newAccountId()
const FIRST: Yard = { north: 0, radius: 60, confirmSeconds: 0, enabled: true }
const YARD = '01KDVN9C000000000000000000'
const clock = { time: T0, now: () => clock.time }

const MEMORY = '/dev/shm'
/** A change of settings takes effect at the next sweep. */
const FOLLOWED_MS = 5_000

/**
 * Applies the steps, projecting in between; then projects and sweeps until nothing is left to
 * decide.
 */
async function run(taken: readonly Step[], work: readonly Work[]) {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'gps-facts-'))
  const log: ProjectionEntry[] = []
  const story: Story[number][] = []
  let lives = 0
  const directory = () => join(folder, String(lives))
  const start = () => {
    newProcess(() => copyFiles(directory(), join(folder, String(lives + 1))))
    return startJudging(openSqliteStore({ directory: directory(), clock }), log, { clock })
  }
  mkdirSync(directory())
  let judging = start()
  const revive = async () => {
    await Promise.allSettled([judging.store.close()])
    rmSync(directory(), { recursive: true })
    lives += 1
    judging = start()
  }
  async function doWork(now: Work | undefined): Promise<void> {
    if (now === undefined || now === 'nothing') return
    if (now === 'sweep') return judging.sweep()
    if (now === 'rebuild') return judging.rebuild()
    if (now === 'project') return judging.project()
    if (now === 'project, judge later') return judging.project({ behind: true })
    if (now === 'crash before projecting') return judging.project({ crash: 'before projecting' })
    if (now === 'crash before judging') return judging.project({ crash: 'before judging' })
    if (now === 'kill') {
      await judging.project()
      killProcess()
      return
    }
    armFault(now.fault, now.nth)
    try {
      await judging[now.at]()
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error
    }
    disarm()
  }
  try {
    await judging.store.beginFacts({})
    const createdAt = T0 - 24 * 60 * MINUTE
    await judging.store.createAccount({ id: accountId, name: 'Ann', suspended: false, createdAt })
    const yard = { id: YARD, accountId, createdAt, name: 'Yard', ...contentOf(FIRST) }
    await judging.store.createGeofences([yard])
    for (const [n, { after, ...step }] of taken.entries()) {
      clock.time += after
      const change = changeOf(step)
      if (change === undefined) {
        const entry = entryOf(step.event as Reported, step, log)
        log.push(entry)
        story.push(entry)
      } else {
        await judging.sweep()
        const passed = clock.time - GRACE_MS
        clock.time += FOLLOWED_MS
        await change(judging.store)
        story.push(changeIn(step, passed))
        await judging.sweep()
      }
      await doWork(work[n])
      if (isDead()) await revive()
    }
    clock.time += 24 * 60 * MINUTE
    await judging.sweep()
    return { story, facts: await judging.store.pageFacts({ accountId, limit: 1_000 }) }
  } finally {
    disarm()
    await judging.store.close()
    rmSync(folder, { recursive: true })
  }
}

/** Undefined if the time is reported. */
function changeOf({ event, device }: Happening): ((store: Store) => Promise<unknown>) | undefined {
  const { kind } = event
  const changedAt = () => clock.time
  switch (kind) {
    case 'disable':
    case 'enable':
      return async (store) => {
        const deviceId = `device-${device}`
        const life = (await store.livesOf({ accountId, deviceIds: [deviceId] })).get(deviceId)
        const change = { accountId, deviceId, life, changedAt: changedAt() }
        return store.changeDeviceSettings({ ...change, disabled: kind === 'disable' })
      }
    case 'suspend':
    case 'resume':
      return (store) =>
        store.suspendAccount({ accountId, suspended: kind === 'suspend', resumedAt: changedAt() })
    case 'redefine':
      return (store) =>
        store.changeGeofence({
          accountId,
          id: YARD,
          changedAt: changedAt(),
          next: (before) => ({ ...before, ...contentOf(event.yard) }),
        })
    case 'position':
    case 'repeat':
    case 'seen':
    case 'erase':
      return undefined
  }
}

function changeIn({ event, device }: Happening, passed: number): Story[number] {
  const times = { at: clock.time, passed }
  if (event.kind === 'redefine') return { kind: 'redefinition', ...times, yard: event.yard }
  const enabled = event.kind === 'enable' || event.kind === 'resume'
  const isDevice = event.kind === 'enable' || event.kind === 'disable'
  return { kind: 'switch', ...times, enabled, ...(isDevice && { deviceId: `device-${device}` }) }
}

function contentOf({ north, radius, confirmSeconds, enabled }: Yard) {
  const middle = { latitude: latitudeOf(north), longitude: 13.7 }
  return { shape: { type: 'circle' as const, ...middle, radius }, confirmSeconds, enabled }
}

function latitudeOf(north: number): number {
  return SOUTH + north / DEGREE_METRES
}

function entryOf(
  event: Reported,
  { device, jitter }: Pick<Step, 'device' | 'jitter'>,
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
  const { ago, north, imported, spooled } = event
  return {
    kind: 'position',
    origin,
    event: positionReported({
      ...names,
      receivedAt,
      timestamp: receivedAt - ago,
      latitude: latitudeOf(north),
      longitude: 13.7,
      ...attributes,
      ...(imported && { imported }),
    }),
    ...(spooled && { spooled }),
  }
}

/** Ordered by device, then sequence. */
function told(facts: readonly DeviceFact[]): ExpectedFact[] {
  return inOrder(
    facts.map((fact) => [fact.deviceId, fact.sequence, fact.type, fact.at, detailOf(fact)]),
  )
}

function detailOf(fact: DeviceFact): string {
  if (fact.type === 'device.online') return String(fact.previous)
  if (fact.type === 'geofence.left') return `${fact.enteredAt} ${fact.seconds}`
  return fact.type === 'alarm.reported' ? `${fact.alarm} ${fact.late}` : ''
}

function inOrder(facts: readonly ExpectedFact[]): ExpectedFact[] {
  return [...facts].sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] < b[0] ? -1 : 1))
}

function expectedOf(story: Story): ExpectedFact[] | undefined {
  try {
    return inOrder(expectedFacts(story, clock.time - GRACE_MS, FIRST))
  } catch (error) {
    if (error instanceof Ambiguous) return undefined
    throw error
  }
}

test(`facts match the model through any batches, crashes, sweeps and rebuilds: ${RUNS} runs, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(steps, works, async (taken, work) => {
      const { story, facts } = await run(taken, work)
      expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
      const expected = expectedOf(story)
      if (expected !== undefined) expect(told(facts)).toEqual(expected)
    }),
    { numRuns: RUNS, seed: SEED },
  )
}, 14_400_000)
