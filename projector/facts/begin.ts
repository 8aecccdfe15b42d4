import type { EventLog } from '../../event-log/event-log.ts'
import { endOf, hasReached } from '../../event-log/offsets.ts'
import type { Clock } from '../../runtime/clock.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { DeviceStatus, Offsets } from '../../schemas/devices/read-models.ts'
import type { SeededState, FactStore } from '../../store/facts.ts'
import type { Generation } from '../../store/generations.ts'
import type { Definitions } from './definitions.ts'
import { seededDefinitions } from './judge-definitions.ts'

const SEEDED_AT_ONCE = 500

type Seeded = Pick<Generation, 'checkpoint' | 'accounts' | 'pageStatuses'>

/**
 * Begins judging at the end of the log, where no facts exist yet: after an upgrade, or without their file. The
 * devices known by then are online or offline without a fact. Call it until it returns true; it waits for the read
 * models to be as far as the log was at the first call.
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
    for await (const page of statuses(readModels)) {
      await store.seedFacts(page.flatMap((status) => seedOf(status, now, definitions) ?? []))
    }
    await store.beginFacts(checkpoint)
    return true
  }
}

async function* statuses(readModels: Seeded): AsyncGenerator<readonly DeviceStatus[]> {
  for (const accountId of await readModels.accounts()) {
    yield* readPages<DeviceStatus>(SEEDED_AT_ONCE, ({ limit, after }) =>
      readModels.pageStatuses({ accountId, limit, ...(after && { after: after.deviceId }) }),
    )
  }
}

/**
 * A device is offline if its status says so, also a disabled one. One of which only imported positions are known has
 * not reported yet.
 */
function seedOf(
  status: DeviceStatus,
  now: number,
  definitions: Definitions,
): SeededState | undefined {
  const { accountId, deviceId, applied, lastKeyAt, lastPosition } = status
  if (lastKeyAt === 0) return undefined
  const { offlineAfterMs, defined } = definitions.of(status)
  const deadline = lastKeyAt + offlineAfterMs
  const isOffline = deadline < now
  const seen = { seenAt: lastKeyAt, due: isOffline ? null : deadline }
  // The first sweep finds when a rule about silence must be judged.
  const isSoon = defined?.rules.some(({ when }) => 'silent' in when) === true
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
      definitions: seededDefinitions(lastPosition),
      liveness: isOffline ? { ...seen, offlineAt: deadline } : seen,
    },
  }
}
