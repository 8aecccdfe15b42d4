import type { EventLog } from '../../event-log/event-log.ts'
import { systemClock as clock, type Clock } from '../../runtime/clock.ts'
import type { Program } from '../../runtime/process/program.ts'
import type { Instances } from '../../store/back-office.ts'
import type { AdoptionStore, DefinitionStore } from '../../store/definitions.ts'
import type { FactStore, SeededState } from '../../store/facts.ts'
import type { Operators } from '../../store/operators.ts'
import type { Devices } from '../../store/read-models.ts'
import { noteFailures, type Judging } from './judge-apart.ts'
import type { JudgingInUse } from '../project-in-use.ts'
import { adoptDevices } from './adopt.ts'
import { followDefinitions, type Definitions } from './definitions.ts'
import { watchHearing } from './hearing.ts'
import { sweepDeadlines } from './sweep.ts'
import { endOf, hasReached } from '../../event-log/offsets.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { DeviceStatus, LastPosition, Offsets } from '../../schemas/devices/read-models.ts'
import type { Generation } from '../../store/generations.ts'

const SWEEP_EVERY_MS = 1_000
const ADOPT_EVERY_MS = 1_000
/** How long an entry may take to get into the log. */
const EMBEDDED_GRACE_MS = 2_000
const KAFKA_GRACE_MS = 10_000

/**
 * Starts the sweep of deadlines. Returns the functions with which the projector judges stored
 * entries.
 */
export function startFacts(
  {
    eventLog,
    store,
    topic,
  }: {
    eventLog: Pick<EventLog, 'extent'>
    topic?: Judging['topic']
    store: FactStore &
      Pick<Operators, 'pageAccounts'> &
      Pick<DefinitionStore, 'changedGeofences' | 'changedRules' | keyof AdoptionStore> &
      Pick<Devices, 'placeDevices'> &
      Pick<Instances, 'instances' | 'waitingSpools'>
  },
  { config, lifecycle, logger, metrics }: Program,
): JudgingInUse {
  const definitions = followDefinitions(store, clock)
  const hearing = watchHearing({
    store,
    clock,
    graceMs: config.factsGraceSeconds * 1_000,
    spoolMaxAgeMs: config.spoolMaxAgeSeconds * 1_000,
    // In embedded mode, the ingest API has started with this process.
    isEmbedded: config.distributed === undefined,
  })
  const failures = noteFailures({ clock, metrics, logger })
  const judging = { store, definitions, hearing, failures, clock, metrics, topic }
  const graceMs = config.distributed === undefined ? EMBEDDED_GRACE_MS : KAFKA_GRACE_MS
  const sweep = sweepDeadlines({ ...judging, eventLog, graceMs })
  lifecycle.every('sweep of deadlines', SWEEP_EVERY_MS, sweep)
  lifecycle.every(
    'adoption of devices',
    ADOPT_EVERY_MS,
    adoptDevices({ ...judging, signal: lifecycle.stopping }),
  )
  return {
    ...judging,
    async prepare() {
      await definitions.prepare()
      await hearing.look()
    },
    begin: beginJudging({ store, eventLog, definitions, clock }),
  }
}

const SEEDED_AT_ONCE = 500

type Seeded = Pick<Generation, 'checkpoint' | 'accounts' | 'pageStatuses'>

/**
 * Starts judging at the end of the log, where no facts exist yet: after an upgrade, or without
 * their file. Devices that already exist become online or offline without a fact. Call it until it
 * returns true; it waits for the read models to reach the end of the log as of the first call.
 */
export function beginJudging({
  store,
  eventLog,
  definitions,
  clock,
}: {
  store: Pick<FactStore, 'factsProgress' | 'seedFacts' | 'beginFacts'>
  eventLog: Pick<EventLog, 'extent'>
  definitions: Definitions
  clock: Clock
}): (readModels: Seeded) => Promise<boolean> {
  let end: Offsets | undefined
  let hasBegun = false

  return async (readModels) => {
    hasBegun ||= (await store.factsProgress()) !== undefined
    if (hasBegun) return true
    end ??= endOf(await eventLog.extent())
    const checkpoint = await readModels.checkpoint()
    if (!hasReached(checkpoint, end)) return false
    const now = clock.now()
    for await (const page of readStatuses(readModels)) {
      await store.seedFacts(page.flatMap((status) => seedOf(status, now, definitions) ?? []))
    }
    await store.beginFacts(checkpoint)
    return true
  }
}

async function* readStatuses(readModels: Seeded): AsyncGenerator<readonly DeviceStatus[]> {
  for (const accountId of await readModels.accounts()) {
    yield* readPages<DeviceStatus>(SEEDED_AT_ONCE, ({ limit, after }) =>
      readModels.pageStatuses({ accountId, limit, ...(after && { after: after.deviceId }) }),
    )
  }
}

/**
 * A device is offline if its status says so, even if disabled. A device with only imported
 * positions has not reported yet.
 */
function seedOf(
  status: DeviceStatus,
  now: number,
  definitions: Definitions,
): SeededState | undefined {
  const { accountId, deviceId, applied, lastKeyAt, lastPosition } = status
  if (lastKeyAt === 0) return undefined
  const { offlineAfterMs, rules } = definitions.of(status)
  const deadline = lastKeyAt + offlineAfterMs
  const isOffline = deadline < now
  const seen = { seenAt: lastKeyAt, due: isOffline ? null : deadline }
  // The first sweep determines when a rule about silence must be judged.
  const isSoon = rules.some(({ when }) => 'silent' in when)
  const [partition = 0] = Object.keys(applied).map(Number)
  const origin = status.lastOrigin ?? { partition, offset: applied[partition] ?? 0 }
  const { recordId, receivedAt, timestamp } = lastPosition
  return {
    accountId,
    deviceId,
    partition: origin.partition,
    state: {
      sequence: 0,
      applied,
      due: isSoon ? now : seen.due,
      last: { recordId, timestamp, receivedAt, origin },
      definitions: seedDefinitions(lastPosition),
      liveness: isOffline ? { ...seen, offlineAt: deadline } : seen,
    },
  }
}

/**
 * It is inside the geofences around it without a fact, as if its position had been judged before
 * they were created.
 */
function seedDefinitions({ latitude, longitude, accuracy }: LastPosition): DefinitionsState {
  const last = { latitude, longitude, ...(accuracy !== undefined && { accuracy }), receivedAt: 0 }
  return { geofences: { last, standings: {} }, rules: { standings: {} } }
}
