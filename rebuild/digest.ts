import { hasReached } from '../event-log/offsets.ts'
import type { DeviceStatus } from '../schemas/read-models.ts'
import type { Generation } from '../store/read-models.ts'
import { canonicalStatus, UnorderedHash } from './canonical.ts'
import { deviceDigest, type Cover, type DeviceDigest } from './device-digest.ts'

/** What a generation of the read models amounts to. */
export type Digest = {
  readonly records: { readonly count: number; readonly hash: string }
  readonly devices: { readonly count: number; readonly hash: string }
}

type Readable = Pick<Generation, 'accounts' | 'pageStatuses' | 'scanRecords' | 'erasedUpTo'>

const DEVICES_AT_ONCE = 200

/**
 * Counts and hashes what generations say of the part of the log that is covered, while they go on
 * being written. They are read in step, because a device that was erased beyond that part counts in
 * none of them: each loses it at a time of its own. Rejects when `signal` is aborted.
 */
export async function digestsOf<Name extends string>(
  generations: Readonly<Record<Name, Readable>>,
  cover: Cover,
  signal: AbortSignal,
): Promise<Record<Name, Digest>> {
  const names = Object.keys(generations) as Name[]
  const readable = names.map((name) => generations[name])
  const sums = names.map(() => ({ records: new UnorderedHash(), devices: new UnorderedHash() }))
  const accounts = await Promise.all(readable.map((generation) => generation.accounts()))
  for (const accountId of new Set(accounts.flat())) {
    let after: string | undefined
    do {
      const next = await readNext(readable, { accountId, after, cover, signal })
      for (const [n, { records, devices }] of sums.entries()) {
        for (const device of next.read[n]?.values() ?? []) {
          records.addAll(device.records)
          const status = device.status()
          if (status !== undefined) devices.add(canonicalStatus(status))
        }
      }
      after = next.last
    } while (after !== undefined)
  }
  const digests = sums.map(({ records, devices }) => ({
    records: { count: records.count, hash: records.hash },
    devices: { count: devices.count, hash: devices.hash },
  }))
  return Object.fromEntries(names.map((name, n) => [name, digests[n]])) as Record<Name, Digest>
}

/** An account's next devices in each of the generations, up to `last`; undefined: those were all. */
async function readNext(
  generations: readonly Readable[],
  {
    accountId,
    after,
    cover,
    signal,
  }: { accountId: string; after: string | undefined; cover: Cover; signal: AbortSignal },
): Promise<{ read: readonly ReadonlyMap<string, DeviceDigest>[]; last: string | undefined }> {
  const start = { accountId, ...(after !== undefined && { after }) }
  // Before the records: what is folded into a status by now is among the records read then.
  const pages = await Promise.all(
    generations.map((one) => one.pageStatuses({ ...start, limit: DEVICES_AT_ONCE })),
  )
  const last = leastEnd(pages)
  const range = { ...start, ...(last !== undefined && { upTo: last }) }
  const read: Map<string, DeviceDigest>[] = []
  for (const [n, generation] of generations.entries()) {
    const devices = new Map<string, DeviceDigest>()
    for (const status of pages[n] ?? []) {
      if (last !== undefined && byUtf8(status.deviceId, last) > 0) break
      devices.set(status.deviceId, deviceDigest(status, cover))
    }
    for await (const chunk of generation.scanRecords(range)) {
      signal.throwIfAborted()
      for (const record of chunk) {
        const { deviceId } = record
        const device = devices.get(deviceId) ?? deviceDigest(undefined, cover)
        devices.set(deviceId, device)
        device.add(record)
      }
    }
    read.push(devices)
  }
  // After the records: an erasure that has taken some of what was to be read is known by now.
  const deviceIds = [...new Set(read.flatMap((devices) => [...devices.keys()]))]
  for (const generation of generations) {
    for (const [deviceId, upTo] of await generation.erasedUpTo({ accountId, deviceIds })) {
      if (!hasReached(cover.upTo, upTo)) for (const devices of read) devices.delete(deviceId)
    }
  }
  return { read, last }
}

/** Where the first of the pages ends that are full; what the others have beyond comes next time. */
function leastEnd(pages: readonly (readonly DeviceStatus[])[]): string | undefined {
  const ends = pages.map((page) => page.at(DEVICES_AT_ONCE - 1)?.deviceId)
  return ends.filter((end) => end !== undefined).sort(byUtf8)[0]
}

function byUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
