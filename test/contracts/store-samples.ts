import { randomBytes, randomUUID } from 'node:crypto'
import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { DeviceSeen } from '../../schemas/events/device-seen.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceStatus, Origin } from '../../schemas/devices/read-models.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { Account, Operator } from '../../store/operators.ts'
import type {
  PositionEntry,
  ProjectionBatch,
  ProjectionEntry,
  SeenEntry,
} from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'

export type { PositionEntry }

/** Gives events their offsets in partitions, like the log; offsets only grow. */
export class LogOfOneSuite {
  readonly #ends = new Map<number, number>()

  append(event: PositionReported, partition = 0): PositionEntry {
    return { kind: 'position', origin: this.#next(partition), event }
  }

  hear(event: DeviceSeen, partition = 0): SeenEntry {
    return { kind: 'seen', origin: this.#next(partition), event }
  }

  drain(event: PositionReported, partition = 0): PositionEntry {
    return { ...this.append(event, partition), spooled: true }
  }

  erase(event: DeviceErased, partition = 0): ProjectionEntry {
    return { kind: 'erasure', origin: this.#next(partition), event }
  }

  #next(partition: number): Origin {
    const offset = (this.#ends.get(partition) ?? -1) + 1
    this.#ends.set(partition, offset)
    return { partition, offset }
  }
}

/** Consecutive entries of one partition as the projector hands them over. */
export function batchOf(
  ...entries: readonly [ProjectionEntry, ...ProjectionEntry[]]
): ProjectionBatch {
  const { partition } = entries[0].origin
  const lastOffset = Math.max(...entries.map(({ origin }) => origin.offset))
  return { partition, lastOffset, entries, fold: deviceStatus, foldVersion: FOLD_VERSION }
}

export function newAccountId(): string {
  return `acc-${randomUUID()}`
}

export function account(changes: Partial<Account> = {}): Account {
  return { id: newAccountId(), name: 'Harbour tugs', suspended: false, createdAt: T0, ...changes }
}

export function apiKey(changes: Partial<ApiKey> & Pick<ApiKey, 'accountId'>): ApiKey {
  return {
    id: `key-${randomUUID()}`,
    name: 'gateway',
    hint: 'gps_abcd…wxyz',
    scopes: ['positions:write'],
    createdAt: T0,
    ...changes,
  }
}

export function operator(changes: Partial<Operator> & Pick<Operator, 'accountId'>): Operator {
  return {
    id: `operator-${randomUUID()}`,
    email: 'Ana@example.org',
    role: 'admin',
    platform: true,
    passwordHash: 'scrypt$x',
    createdAt: T0,
    ...changes,
  }
}

/** A separate erasure, requested long after the samples were received. */
export function deviceErased(changes: Partial<DeviceErased> = {}): DeviceErased {
  const erasedAt = changes.erasedAt ?? T0 + 30 * 24 * 3_600_000
  return {
    eventId: ulid(erasedAt, randomBytes(10)),
    accountId: 'acc-1',
    deviceId: 'tracker-1',
    erasedAt,
    ...changes,
  }
}

/** Statuses and records of an account, as far as they do not depend on how the log was delivered. */
export async function everythingOf(store: Store, accountId: string) {
  const devices = await allDevices(store, accountId)
  const statuses = devices.map(({ status }) => canonical(status))
  const records = []
  for (const { deviceId } of statuses) {
    records.push(...(await allPositions(store, accountId, deviceId)))
  }
  return { statuses, records }
}

export async function allDevices(store: Store, accountId: string) {
  return store.pageDevices({ accountId, limit: 1000 })
}

export async function allPositions(store: Store, accountId: string, deviceId: string) {
  return store.pagePositions({ accountId, deviceId, order: 'asc', limit: 1000 })
}

/**
 * The part of a status that must not depend on how the log was delivered: `applied` and `lastOrigin` are
 * just places in the log.
 */
export function canonical({ applied: _applied, lastOrigin: _last, ...status }: DeviceStatus) {
  return status
}

/** Different device ids that some comparisons treat as equal or as patterns. */
export const ODD_DEVICE_IDS = [
  'truck',
  'Truck',
  'TRUCK',
  'caf\u00e9',
  'cafe\u0301',
  'İ',
  'i',
  'ß',
  'ss',
  '%',
  '_',
  '*',
  "'; DROP TABLE records; --",
  '"',
  '\\',
  '$ts',
  'a.b',
  'a/b',
  '__proto__',
  '0',
  '00',
  '1e3',
  'null',
  'جرار ٥',
  '\u200f7',
  '👩‍🚒',
  '👩',
  '\ufffd',
  '\uffee',
  '\u{10000}',
  'x'.repeat(128),
  '😀'.repeat(64),
]
