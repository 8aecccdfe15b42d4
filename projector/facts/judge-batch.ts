import { higherOffsets, includes } from '../../event-log/offsets.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { PositionEntry } from '../../schemas/events/log-entry.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { AppliedEvents, Offsets } from '../../schemas/devices/read-models.ts'
import type { JudgeDevice } from '../../store/facts.ts'
import type { Generation } from '../../store/generations.ts'
import type {
  Change,
  ErasureEntry,
  ProjectionBatch,
  ProjectionEntry,
} from '../../store/read-models.ts'
import { judgeApart, type Judging } from './judge-apart.ts'
import { judgeEntries, type JudgedEntry } from './judge.ts'

/** The second step of projecting: decides facts from the entries that a batch has stored. */
export type JudgeBatch = {
  /** The point up to which entries are judged; undefined if judging has not started. */
  progress(): Promise<Offsets | undefined>
  lastJudged(): Promise<AppliedEvents>
  /**
   * Before the batch is projected: the facts of erased devices must be removed before the devices
   * are visible again.
   */
  erase(erasures: readonly ErasureEntry[]): Promise<void>
  /** After the batch has been projected, with the resulting changes. */
  judge(batch: ProjectedBatch, changes: readonly ProjectedChange[]): Promise<void>
}

export type ProjectedBatch = Omit<ProjectionBatch, 'fold' | 'foldVersion'>
export type ProjectedChange = Pick<Change, 'stored'>

export function judgeBatches(
  readModels: Pick<Generation, 'recordOrigins'>,
  judging: Judging,
): JudgeBatch {
  const { store, definitions, hearing, clock, topic } = judging
  /** The progress as known to this process, to skip entries already judged. */
  let judged: Offsets | undefined

  return {
    async progress() {
      judged = await store.factsProgress()
      return judged
    },

    lastJudged: () => store.lastJudged(),

    async erase(erasures) {
      judged ??= await store.factsProgress()
      for (const erasure of erasures) {
        await store.eraseFacts(erasure)
        // Judging moves past it only after it was published, and later facts must not precede a
        // copy of it.
        if (includes(judged ?? {}, erasure.origin)) continue
        await topic?.erase(erasure.event)
      }
    },

    async judge(batch, changes) {
      judged ??= await store.factsProgress()
      if (judged === undefined) return
      const { partition, after, lastOffset } = batch
      const done = judged[partition] ?? -1
      if (lastOffset <= done) return
      const entries = batch.entries.filter(({ origin }) => origin.offset > done)
      const devices =
        groupStoredByDevice(entries, changes) ??
        groupByDevice(await selectCountingEntries(entries, changes, readModels))
      const decidedAt = clock.now()
      const heard = hearing.current()
      const work = Array.from(devices, (own): JudgeDevice => {
        const { accountId, deviceId } = own[0].event
        const device = { accountId, deviceId }
        return {
          accountId,
          deviceId,
          judge(state) {
            const by = { definitions: definitions.of(device), hearing: heard }
            return judgeEntries(state, own, { accountId, deviceId, ...by, decidedAt })
          },
        }
      })
      const last = entries.at(-1)
      await judgeApart(judging, {
        read: {
          partition,
          ...(after !== undefined && { after }),
          lastOffset,
          lastEvent: last && { offset: last.origin.offset, id: eventIdOf(last.event) },
        },
        devices: work,
      })
      judged = higherOffsets(judged, { [partition]: lastOffset })
    },
  }
}

/**
 * The entries that count, in order: heartbeats, positions that created their record, and repeats. A
 * position that was stored earlier but not judged then has the origin of its record.
 */
async function selectCountingEntries(
  entries: readonly ProjectionEntry[],
  changes: readonly ProjectedChange[],
  readModels: Pick<Generation, 'recordOrigins'>,
): Promise<readonly JudgedEntry[]> {
  const stored = new Set<ProjectionEntry>(changes.flatMap((change) => change.stored))
  const erasedUpTo = new Map<string, number>()
  for (const { kind, origin, event } of entries) {
    if (kind === 'erasure') erasedUpTo.set(deviceKey(event), origin.offset)
  }
  const living = entries.filter((entry): entry is Exclude<ProjectionEntry, ErasureEntry> => {
    if (entry.kind === 'erasure') return false
    if (entry.kind === 'position' && entry.event.imported === true) return false
    const upTo = erasedUpTo.size === 0 ? undefined : erasedUpTo.get(deviceKey(entry.event))
    return upTo === undefined || entry.origin.offset > upTo
  })
  const unknown = living.filter(
    (entry): entry is PositionEntry => entry.kind === 'position' && !stored.has(entry),
  )
  if (unknown.length === 0) return living
  const origins = await readModels.recordOrigins(unknown.map(({ event }) => event))
  return living.flatMap((entry): JudgedEntry[] => {
    if (entry.kind !== 'position' || stored.has(entry)) return [entry]
    const { accountId, recordId } = entry.event
    const owner = origins.get(`${accountId}/${recordId}`)
    if (owner === undefined) return []
    const { partition, offset } = entry.origin
    const isOwn = owner.partition === partition && owner.offset === offset
    return [isOwn ? entry : { ...entry, kind: 'repeat' }]
  })
}

type OfDevice = readonly [JudgedEntry, ...JudgedEntry[]]

/** Almost always: each entry has created its record. */
function groupStoredByDevice(
  entries: readonly ProjectionEntry[],
  changes: readonly ProjectedChange[],
): readonly OfDevice[] | undefined {
  let count = 0
  const devices: OfDevice[] = []
  for (const { stored } of changes) {
    if (!isFilled(stored) || stored.some(isImported)) return undefined
    count += stored.length
    devices.push(stored)
  }
  return count === entries.length ? devices : undefined
}

function isFilled(stored: readonly PositionEntry[]): stored is OfDevice & typeof stored {
  return stored.length > 0
}

function isImported({ event }: PositionEntry): boolean {
  return event.imported === true
}

function groupByDevice(entries: readonly JudgedEntry[]): Iterable<OfDevice> {
  const devices = new Map<string, [JudgedEntry, ...JudgedEntry[]]>()
  for (const entry of entries) {
    const key = deviceKey(entry.event)
    const own = devices.get(key)
    if (own === undefined) devices.set(key, [entry])
    else own.push(entry)
  }
  return devices.values()
}
