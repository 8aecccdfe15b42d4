import type { Admin } from 'kafkajs'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { askPartitions } from './partitions.ts'
import type { GroupProgress } from './stall-watch.ts'

/** The offsets that a partition holds: from `low` (inclusive) to `high` (exclusive). */
export type OffsetBounds = {
  readonly partition: number
  readonly low: number
  readonly high: number
}

const SECOND_MS = 1000

/** The bounds of every partition; rejects while one has no leader. */
export async function bounds(admin: Admin, topic: string): Promise<OffsetBounds[]> {
  const { held, leaderless } = await reachableBounds(admin, topic)
  if (leaderless.length > 0) {
    throw new Error(`no leader for partition ${leaderless.join(', ')} of ${topic}`)
  }
  return held
}

/** The bounds of the partitions that have a leader. */
async function reachableBounds(
  admin: Admin,
  topic: string,
): Promise<{ held: OffsetBounds[]; leaderless: number[] }> {
  const [offsets, known] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    askPartitions(admin, [topic]),
  ])
  const held = offsets.map(({ partition, low, high }) => ({
    partition,
    low: Number(low),
    high: Number(high),
  }))
  const leaderless: number[] = []
  for (const [partition, { leader }] of (known.get(topic) ?? []).entries()) {
    if (held.some((one) => one.partition === partition)) continue
    // This connection fetched its metadata while there was no leader; a new connection fetches
    // current metadata.
    if (leader !== undefined)
      throw new Error(`partition ${partition} of ${topic} has a leader again`)
    leaderless.push(partition)
  }
  return { held, leaderless }
}

export type GroupOnTopic = { readonly topic: string; readonly groupId: string }

/**
 * The number of records that a group has not processed, and the age of the oldest in seconds.
 * `applied`: the last offsets the group has processed, if it stores them itself.
 */
export async function lag(
  admin: Admin,
  {
    applied,
    now,
    ...place
  }: GroupOnTopic & { readonly applied: Offsets | undefined; readonly now: number },
): Promise<{ events: number; seconds: number }> {
  const progress =
    applied === undefined
      ? await progressByPartition(admin, place)
      : (await reachableBounds(admin, place.topic)).held.map(({ partition, low, high }) => ({
          partition,
          high,
          next: Math.max((applied[partition] ?? -1) + 1, low),
        }))
  const behind = progress.filter(({ next, high }) => next < high)
  if (behind.length === 0) return { events: 0, seconds: 0 }
  const events = behind.reduce((sum, { next, high }) => sum + high - next, 0)
  const oldest = await timeOfOldest(admin, place.topic, behind, now)
  return { events, seconds: Math.max(0, Math.round((now - oldest) / SECOND_MS)) }
}

/**
 * Reads a group's progress in the named partitions, or in all partitions. `next` has the next
 * offsets known to its member; for other partitions the committed offsets count.
 */
export async function progressOf(
  admin: Admin,
  place: GroupOnTopic,
  {
    partitions,
    next: known,
  }: { readonly partitions: readonly number[]; readonly next: ReadonlyMap<number, number> },
): Promise<GroupProgress> {
  const all = await progressByPartition(admin, place)
  const own = all
    .filter(({ partition }) => partitions.length === 0 || partitions.includes(partition))
    .map((one) => ({ ...one, next: known.get(one.partition) ?? one.next }))
  return {
    position: own.map(({ partition, next }) => `${partition}:${next}`).join(' '),
    behind: own.some(({ next, high }) => next < high),
  }
}

/** Deletes records older than `before`, up to the first newer one. */
export async function trim(admin: Admin, topic: string, before: number): Promise<void> {
  const { held } = await reachableBounds(admin, topic)
  const firstKept = await admin.fetchTopicOffsetsByTimestamp(topic, before)
  const partitions = firstKept.filter(
    ({ partition, offset }) =>
      Number(offset) > (held.find((one) => one.partition === partition)?.low ?? Infinity),
  )
  if (partitions.length > 0) await admin.deleteTopicRecords({ topic, partitions })
}

/** The last offset of each partition before its first record of this time or later. */
export async function fetchOffsetsBefore(
  admin: Admin,
  topic: string,
  time: number,
): Promise<Record<number, number>> {
  const first = await admin.fetchTopicOffsetsByTimestamp(topic, time)
  const before = first.map(({ partition, offset }) => [partition, Number(offset) - 1] as const)
  return Object.fromEntries(before.filter(([, offset]) => offset >= 0))
}

/** The next offset that the group will read in each partition that can be queried. */
async function progressByPartition(admin: Admin, { topic, groupId }: GroupOnTopic) {
  const [{ held }, [committed]] = await Promise.all([
    reachableBounds(admin, topic),
    admin.fetchOffsets({ groupId, topics: [topic] }),
  ])
  return held.map(({ partition, low, high }) => {
    const progress = committed?.partitions.find((one) => one.partition === partition)
    // −1 if nothing is committed; records deleted by retention do not count towards the lag.
    return { partition, high, next: Math.max(Number(progress?.offset ?? -1), low) }
  })
}

/**
 * The time of the oldest record from `next` on. Kafka only maps times to offsets, so this searches
 * for the latest time from which all records are unprocessed.
 */
async function timeOfOldest(
  admin: Admin,
  topic: string,
  behind: readonly { partition: number; next: number }[],
  now: number,
): Promise<number> {
  let ageMs = SECOND_MS
  while (!(await reachesBack(now - ageMs)) && ageMs < now) ageMs *= 2
  let earliest = Math.max(0, now - ageMs)
  let latest = now
  while (earliest + 1 < latest) {
    const middle = Math.floor((earliest + latest) / 2)
    if (await reachesBack(middle)) earliest = middle
    else latest = middle
  }
  return earliest

  async function reachesBack(time: number): Promise<boolean> {
    const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, Math.max(0, time))
    return behind.every(({ partition, next }) => {
      const first = offsets.find((one) => one.partition === partition)
      return first !== undefined && Number(first.offset) <= next
    })
  }
}
