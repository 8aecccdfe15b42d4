import { expect } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { ulid } from '../../schemas/events/record-id.ts'
import {
  REJECTIONS_KEPT,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/events/report-rejected.ts'
import type { Store } from '../../store/store.ts'
import type { StoreSuite } from './store-suite.ts'
import { newAccountId } from './store-samples.ts'

type Query = Omit<Parameters<Store['pageRejections']>[0], 'accountId' | 'limit'>

// Close to now: a store may use its own clock when it removes old data.
const NOW = Date.now()

export function rejectionsContract({ promise, alone, shared }: StoreSuite): void {
  promise(
    'rejected reports come back as they were saved, newest first, even after a restart',
    async ({ accountId }) => {
      const counted = rejected({ accountId, receivedAt: NOW, error: 'RATE_LIMITED', count: 412 })
      const full = rejected({
        accountId,
        receivedAt: NOW + 1,
        deviceId: 'جرار ٥',
        body: '{"$ne": "<b>\0\ufffd", "latitude": "91"}\r\n\ud83d\ude00',
      })
      await shared.store.saveRejections([full, counted])
      expect(await all(accountId)).toEqual([full, counted])
      expect(Object.keys((await all(accountId))[1] ?? {})).not.toContain('body')
      await shared.reopen()
      expect(await all(accountId)).toEqual([full, counted])
      expect(await all(newAccountId())).toEqual([])
      await shared.store.saveRejections([])
    },
  )

  promise(
    'saving rejected reports again changes nothing, in the same batch or later',
    async ({ accountId }) => {
      const [one, two] = [rejected({ accountId, receivedAt: NOW }), rejected({ accountId })]
      await shared.store.saveRejections([one, two, { ...one, message: 'else' }])
      await shared.store.saveRejections([{ ...two, count: 9 }, one])
      expect(new Set(await all(accountId))).toEqual(new Set([one, two]))
      expect(await all(accountId)).toHaveLength(2)
    },
  )

  promise(
    'rejected reports are paged by their ids, each once, for a key, a device, both or neither',
    async () => {
      const [accountId, other] = [newAccountId(), newAccountId()]
      const events = Array.from({ length: 40 }, (_, n) => {
        const deviceId = ['truck', 'Truck', undefined, '$ne'][n % 4]
        return rejected({
          accountId,
          receivedAt: NOW + (n % 7),
          keyId: `key-${n % 3}`,
          ...(deviceId !== undefined && { deviceId }),
        })
      })
      await shared.store.saveRejections(events)
      await shared.store.saveRejections(
        events.map((event) => rejected({ ...event, rejectionId: newId(NOW), accountId: other })),
      )
      const queries: Query[] = [
        {},
        { keyId: 'key-1' },
        { deviceId: 'truck' },
        { deviceId: '$ne', keyId: 'key-2' },
        { keyId: 'none' },
      ]
      for (const query of queries) {
        const wanted = events
          .filter(({ keyId }) => query.keyId === undefined || keyId === query.keyId)
          .filter(({ deviceId }) => query.deviceId === undefined || deviceId === query.deviceId)
          .sort((a, b) => (a.rejectionId < b.rejectionId ? 1 : -1))
        expect(await all(accountId, query)).toEqual(wanted)
      }
      expect(await all(accountId)).toHaveLength(40)
    },
  )

  promise(
    'rejected reports can be filtered and counted by error and time, too',
    async ({ accountId }) => {
      const events = Array.from({ length: 60 }, (_, n) => {
        const deviceId = ['truck', undefined, 'tug'][n % 3]
        return rejected({
          accountId,
          receivedAt: NOW - n * 1_000,
          keyId: `key-${n % 2}`,
          count: (n % 4) + 1,
          error: n % 5 === 0 ? 'RATE_LIMITED' : 'INVALID_PARAMS',
          ...(deviceId !== undefined && { deviceId }),
        })
      })
      await shared.store.saveRejections(events)
      const queries: Query[] = [
        {},
        { error: 'RATE_LIMITED' },
        { error: 'FORBIDDEN' },
        { from: NOW - 20_000, to: NOW - 9_500 },
        { to: NOW - 50_000, keyId: 'key-1' },
        { from: NOW - 30_000, error: 'RATE_LIMITED', deviceId: 'tug' },
      ]
      for (const query of queries) {
        const { keyId, deviceId, error, from = 0, to = Infinity } = query
        const wanted = events.filter(
          (event) =>
            (keyId === undefined || event.keyId === keyId) &&
            (deviceId === undefined || event.deviceId === deviceId) &&
            (error === undefined || event.error === error) &&
            event.receivedAt >= from &&
            event.receivedAt < to,
        )
        expect(await all(accountId, query)).toEqual(wanted)
        const counted = await shared.store.countRejections({ accountId, ...query })
        const sum = (some: readonly ReportRejected[]) =>
          some.reduce((total, { count }) => total + count, 0)
        expect(counted.total).toBe(sum(wanted))
        for (const [name, counts] of [
          ['error', counted.byError],
          ['keyId', counted.byKey],
          ['deviceId', counted.byDevice],
        ] as const) {
          const values = new Set(wanted.flatMap((event) => event[name] ?? []))
          const expected = [...values].map((value) => [
            value,
            sum(wanted.filter((event) => event[name] === value)),
          ])
          expect(new Map(counts)).toEqual(new Map(expected as [string, number][]))
        }
      }
    },
  )

  promise(
    'rejected reports with an invalid device id are stored, and found under no other id',
    async ({ accountId }) => {
      const odd = ['truck\0', 'truck\0 and more', ' truck', '', '\u0007'].map((deviceId) =>
        rejected({ accountId, deviceId }),
      )
      await shared.store.saveRejections(odd)
      expect(new Set(await all(accountId))).toEqual(new Set(odd))
      expect(await all(accountId, { deviceId: 'truck' })).toEqual([])
      expect(await all(accountId, { keyId: 'key-1\0' })).toEqual([])
      expect(await all(accountId, { deviceId: ' truck' })).toEqual([odd[2]])
    },
  )

  promise(
    'rejected reports with a malformed device id are stored, but not found by it',
    async ({ accountId }) => {
      const odd = rejected({ accountId, deviceId: 'truck \ud800', body: '{"deviceId":"\udfff"}' })
      await shared.store.saveRejections([odd])
      expect(await all(accountId)).toEqual([odd])
      for (const deviceId of ['truck \ufffd', 'truck ', 'truck']) {
        expect(await all(accountId, { deviceId })).toEqual([])
      }
    },
  )

  alone(
    'rejected reports more than a week older than the newest are removed',
    async ({ store }) => {
      const at = (age: number, accountId = 'acc-1') =>
        rejected({ accountId, receivedAt: NOW - age })
      const [old, theirs] = [
        at(REJECTIONS_KEPT_MS + 60_000),
        at(REJECTIONS_KEPT_MS + 60_000, 'acc-2'),
      ]
      // The store's clock advances while the tests run, for minutes on a busy machine.
      const [young, newest] = [at(REJECTIONS_KEPT_MS - 600_000), at(0)]
      await store.saveRejections([old, theirs, young])
      await store.saveRejections([newest])
      expect(await store.pageRejections({ accountId: 'acc-1', limit: 9 })).toEqual([newest, young])
      expect(await store.pageRejections({ accountId: 'acc-2', limit: 9 })).toEqual([])
    },
  )

  promise(`an account keeps at most the latest ${REJECTIONS_KEPT} rejected reports`, async () => {
    const [accountId, other] = [newAccountId(), newAccountId()]
    await shared.store.saveRejections([rejected({ accountId: other, receivedAt: NOW - 1 })])
    const events = Array.from({ length: REJECTIONS_KEPT + 30 }, (_, n) =>
      rejected({ accountId, receivedAt: NOW + n }),
    )
    for (let start = 0; start < events.length; start += 250) {
      await shared.store.saveRejections(events.slice(start, start + 250))
    }
    const kept: ReportRejected[] = await all(accountId, {}, 1_000)
    expect(kept).toHaveLength(REJECTIONS_KEPT)
    expect(kept.at(-1)?.receivedAt).toBe(NOW + 30)
    expect(await all(other)).toHaveLength(1)
  })

  /** Every result of a query, in small pages. */
  async function all(accountId: string, query: Query = {}, limit = 3): Promise<ReportRejected[]> {
    const seen: ReportRejected[] = []
    for (;;) {
      const after = seen.at(-1)?.rejectionId
      const place = after === undefined ? {} : { after }
      const page = await shared.store.pageRejections({ accountId, limit, ...query, ...place })
      seen.push(...page)
      if (page.length < limit) return seen
    }
  }
}

function newId(time: number): string {
  return ulid(time, randomBytes(10))
}

function rejected(fields: Partial<ReportRejected> & { accountId: string }): ReportRejected {
  const receivedAt = fields.receivedAt ?? NOW + 500
  return {
    rejectionId: newId(receivedAt),
    keyId: 'key-1',
    receivedAt,
    error: 'INVALID_PARAMS',
    message: 'latitude must be a number from -90 to 90',
    count: 1,
    ...fields,
  }
}
