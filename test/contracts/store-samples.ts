import { afterAll, beforeAll } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { deviceStatus } from '../../projector/device-status.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import type { Account, ApiKey, Operator, ProjectionBatch, Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'
import type { OpenedStore, OpenStore } from './store-contract.ts'

export type Entry = ProjectionBatch['entries'][number]

/** One store for the tests of a `describe`; each works in accounts of its own, so none is emptied. */
export function sharedStore(open: OpenStore): { readonly store: Store; reopen(): Promise<Store> } {
  let opened: OpenedStore | undefined
  let store: Store
  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened?.close())
  return {
    get store() {
      return store
    },
    async reopen() {
      if (opened === undefined) throw new Error('no store was opened')
      store = await opened.reopen()
      return store
    },
  }
}

/** Runs one test on a store of its own, where it concerns the data of every account. */
export async function withStore(open: OpenStore, test: (store: Store) => Promise<void>) {
  const opened = await open()
  try {
    await test(opened.store)
  } finally {
    await opened.close()
  }
}

/** Gives events their places in partitions, as the log does; offsets only ever grow. */
export class LogOfOneSuite {
  readonly #ends = new Map<number, number>()

  append(event: PositionReported, partition = 0): Entry {
    const offset = (this.#ends.get(partition) ?? -1) + 1
    this.#ends.set(partition, offset)
    return { origin: { partition, offset }, event }
  }
}

/** Consecutive entries of one partition as the projector hands them over. */
export function batchOf(...entries: readonly [Entry, ...Entry[]]): ProjectionBatch {
  const { partition } = entries[0].origin
  const lastOffset = Math.max(...entries.map(({ origin }) => origin.offset))
  return { partition, lastOffset, entries, fold: deviceStatus }
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

export async function allDevices(store: Store, accountId: string) {
  return store.pageDevices({ accountId, limit: 1000 })
}

export async function allPositions(store: Store, accountId: string, deviceId: string) {
  return store.pagePositions({ accountId, deviceId, order: 'asc', limit: 1000 })
}

/** What must not depend on how the log was delivered: `applied` says just where it stands in it. */
export function canonical({ applied: _applied, ...status }: DeviceStatus) {
  return status
}

/** Device ids that differ, though some ways of comparing take them for the same or for patterns. */
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
