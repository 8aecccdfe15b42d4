import { hasReached } from '../../event-log/offsets.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { Generation } from '../../store/generations.ts'
import { canonicalStatus, UnorderedHash } from './canonical.ts'
import { deviceDigest, type Cover, type DeviceDigest } from './device-digest.ts'

/** Counts and hashes of a generation of the read models. */
export type Digest = {
  readonly records: { readonly count: number; readonly hash: string }
  readonly devices: { readonly count: number; readonly hash: string }
}

type Readable = Pick<Generation, 'accounts' | 'pageStatuses' | 'scanRecords' | 'erasedUpTo'>

const DEVICES_AT_ONCE = 200

/**
 * Counts and hashes the covered part of several generations while they are being written. It reads
 * them in step and omits devices erased after the covered part, because each generation
 * removes those devices at a different time. Heartbeats are omitted for a device with a heartbeat
 * since. Rejects when `signal` is aborted.
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
      const heardSince = new Set<string>()
      const readSince = new Set<string>()
      for (const devices of next.read) {
        for (const [deviceId, device] of devices) {
          if (device.isHeardSince()) heardSince.add(deviceId)
          if (device.isReadSince()) readSince.add(deviceId)
        }
      }
      for (const [n, { records, devices }] of sums.entries()) {
        for (const [deviceId, device] of next.read[n] ?? []) {
          records.addAll(device.records)
          const status = device.status({
            heartbeats: !heardSince.has(deviceId),
            readings: !readSince.has(deviceId),
          })
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

/** An account's next devices in each generation, up to `last`, which is undefined at the end. */
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
  // Read before the records, which then include everything folded into these statuses.
  const pages = await Promise.all(
    generations.map((one) => one.pageStatuses({ ...start, limit: DEVICES_AT_ONCE })),
  )
  const last = findLeastEnd(pages)
  const range = { ...start, ...(last !== undefined && { upTo: last }) }
  const read: Map<string, DeviceDigest>[] = []
  for (const [n, generation] of generations.entries()) {
    const devices = new Map<string, DeviceDigest>()
    for (const status of pages[n] ?? []) {
      if (last !== undefined && compareUtf8(status.deviceId, last) > 0) break
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
  // Read after the records, so that it includes erasures that removed records in the meantime.
  const deviceIds = [...new Set(read.flatMap((devices) => [...devices.keys()]))]
  for (const generation of generations) {
    for (const [deviceId, upTo] of await generation.erasedUpTo({ accountId, deviceIds })) {
      if (!hasReached(cover.upTo, upTo)) for (const devices of read) devices.delete(deviceId)
    }
  }
  return { read, last }
}

/** The lowest end of the full pages; devices beyond it are read next time. */
function findLeastEnd(pages: readonly (readonly DeviceStatus[])[]): string | undefined {
  const ends = pages.map((page) => page.at(DEVICES_AT_ONCE - 1)?.deviceId)
  return ends.filter((end) => end !== undefined).sort(compareUtf8)[0]
}

function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
