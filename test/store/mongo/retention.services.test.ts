import { isDeepStrictEqual } from 'node:util'
import { expect } from '@jest/globals'
import type { Db } from 'mongodb'
import { eventually } from '../../eventually.ts'
import { describeWith } from '../../services/describe-with.ts'
import { positionReported, T0 } from '../../samples.ts'
import { batchOf } from '../../contracts/store-samples.ts'
import { mongoSuite } from './database.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

await describeWith(['mongodb'], 'retention in MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'the server removes records by itself, after the latest retention',
    async ({ open, db }) => {
      const expected: [retention: number | 'off' | undefined, seconds: number | undefined][] = [
        [undefined, undefined],
        [30, 30 * 86_400],
        [30, 30 * 86_400],
        [0.5, 43_200],
        ['off', undefined],
        [undefined, undefined],
        [7, 7 * 86_400],
      ]
      for (const [retention, seconds] of expected) {
        await open({ retention: { wanted: retention } })
        const set =
          seconds === undefined ? [] : [{ key: { receivedAt: 1 }, expireAfterSeconds: seconds }]
        // A missing index is built in the background.
        await eventually(async () => isDeepStrictEqual(await timeToLive(db), set))
        const other = await open()
        expect(await other.retentionDays()).toBe(seconds && seconds / 86_400)
        expect(await timeToLive(db)).toEqual(set)
      }
    },
  )

  promise(
    'the retention’s owner cannot start without a value while the store has one, and the message names the remedy',
    async ({ open, db }) => {
      await open({ retention: { wanted: 30 } })
      await eventually(async () => (await timeToLive(db)).length === 1)
      await expect(open({ retention: { wanted: undefined } })).rejects.toMatchObject({
        retriable: false,
        message: expect.stringMatching(
          /30 days and RETENTION_DAYS is not set.* RETENTION_DAYS=off/,
        ),
      })
    },
  )

  promise('a change during a rebuild applies to the new generation too', async ({ open, db }) => {
    for (const [number, before, during] of [
      [2, 30, 7],
      [3, 7, 'off'],
    ] as const) {
      const store = await open({ retention: { wanted: before } })
      await eventually(async () => (await timeToLive(db, number - 1)).length === 1)
      const rebuild = await store.beginRebuild()
      const set = await timeToLive(db, number)
      expect(set).toMatchObject([{ expireAfterSeconds: before * 86_400 }])
      await open({ retention: { wanted: during } })
      await rebuild?.switchOver()
      const expected = during === 'off' ? [] : [{ expireAfterSeconds: during * 86_400 }]
      expect(await timeToLive(db, number)).toMatchObject(expected)
      await rebuild?.end()
    }
  })

  promise(
    'expired records are invisible in every process while the server still has them',
    async ({ open, db, log }) => {
      let now = T0
      await open({ retention: { wanted: 1 } })
      await eventually(async () => (await timeToLive(db)).length === 1)
      const store = await open({ clock: { now: () => now } })
      const old = log.append(positionReported({ deviceId: 'old', receivedAt: T0 }))
      const young = log.append(positionReported({ deviceId: 'young', receivedAt: T0 + 1 }))
      await store.project(batchOf(old, young))
      const seen = async () => {
        const devices = await store.pageDevices({ accountId: 'acc-1', limit: 10 })
        return devices.map(({ status }) => status.deviceId)
      }
      const { accountId, deviceId, recordId } = old.event
      const history = { accountId, deviceId, order: 'asc', limit: 10 } as const

      now = T0 + DAY_MS
      expect(await seen()).toEqual(['old', 'young'])
      expect(await store.pagePositions(history)).toHaveLength(1)

      now += 1
      expect(await seen()).toEqual(['young'])
      expect(await store.pagePositions(history)).toEqual([])
      expect(await store.findPosition({ accountId, recordId })).toBeUndefined()
      expect(await store.findDevice({ accountId, deviceId })).toBeUndefined()
    },
  )
})

async function timeToLive(db: Db, generation = 1) {
  const indexes = await db.collection(`positions_g${generation}`).listIndexes().toArray()
  return indexes
    .map(({ key, expireAfterSeconds }: Record<string, unknown>) => ({ key, expireAfterSeconds }))
    .filter(({ key }) => 'receivedAt' in (key as object))
}
