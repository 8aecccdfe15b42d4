import { expect } from '@jest/globals'
import { BSON } from 'mongodb'
import { searchWords } from '../../../schemas/devices/device-search.ts'
import type { Liveness } from '../../../schemas/devices/liveness.ts'
import { batchOf, deviceErased, type PositionEntry } from '../../contracts/store-samples.ts'
import { positionReported, T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from './database.ts'

const OP_MSG = 2013

await describeWith(['mongodb'], 'reading from MongoDB', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'every read carries a time limit, so that an abandoned one ends on the server',
    async ({ openBehindProxy, log }) => {
      const { store, proxy } = await openBehindProxy()
      const asked: BSON.Document[] = []
      const entry = log.append(positionReported())
      const { accountId, deviceId, recordId } = entry.event
      await store.hideErased(deviceErased({ deviceId: 'other' }))
      proxy.watch((bytes) => {
        const command = commandIn(bytes)
        if (command !== undefined) asked.push(command)
      })
      await store.project(batchOf(entry))
      await store.project(batchOf(log.append({ ...entry.event })))
      await store.findPosition({ accountId, recordId })
      await store.pagePositions({ accountId, deviceId, order: 'asc', limit: 9 })
      await store.findDevice({ accountId, deviceId })
      await store.pageDevices({ accountId, limit: 9 })
      await store.pageDevices({ accountId, limit: 9, words: searchWords('x') })
      await store.devicesWithInterval(accountId)
      await store.erasuresOf({ accountId, deviceIds: [deviceId] })
      await store.hideErased(deviceErased({ deviceId: 'another' }))
      const generation = await store.openGeneration(await store.currentGeneration())
      await generation.accounts()
      await generation.pageStatuses({ accountId, limit: 9 })
      await generation.erasedUpTo({ accountId, deviceIds: [deviceId] })
      const reads = asked.filter((command) => 'find' in command || 'aggregate' in command)
      const collections = reads.map((command) => String(command['find'] ?? command['aggregate']))
      expect(new Set(collections)).toEqual(
        new Set([
          ...['meta', 'positions_g1', 'device_status_g1', 'applied_g1'],
          ...['device_settings', 'hidden_devices', 'back_office.announced_erasures'],
        ]),
      )
      expect(reads.filter(({ maxTimeMS }) => maxTimeMS !== 5_000)).toEqual([])
    },
  )

  promise(
    'devices are counted with small commands, however many have their own interval',
    async ({ openBehindProxy, db, log }) => {
      const { store, proxy } = await openBehindProxy()
      let longest = 0
      const accountId = 'acc-1'
      const entry = log.append(positionReported({ receivedAt: T0 }))
      await store.project(batchOf(entry))
      const settings = Array.from({ length: 3_000 }, (_, n) => {
        const deviceId = n === 0 ? entry.event.deviceId : `${'d'.repeat(120)}-${n}`
        return { _id: `${accountId}/${deviceId}`, accountId, deviceId, ...OWN_INTERVAL }
      })
      await db.collection<{ _id: string }>('device_settings').insertMany(settings)
      proxy.watch((bytes) => {
        if (bytes.length < 26 || bytes.readInt32LE(12) !== OP_MSG) return
        longest = Math.max(longest, bytes.readInt32LE(0))
      })
      const counted = await store.countDevices({ accountId, now: T0 + 20 * 60_000 })
      expect(counted).toEqual({ total: 1, online: 1, idle: 0, offline: 0, disabled: 0 })
      expect(longest).toBeLessThan(200_000)
    },
  )

  promise(
    'a search by status joins the settings only of devices whose status depends on them',
    async ({ openBehindProxy, db, log }) => {
      const { store, proxy } = await openBehindProxy()
      const [accountId, now] = ['acc-1', T0 + 20 * 60_000]
      const settings = db.collection<{ _id: string }>('device_settings')
      const find = async (is: Liveness) =>
        (await store.pageDevices({ accountId, limit: 9, status: { is, now } })).map(
          ({ status }) => status.deviceId,
        )
      const all = async () => [await find('online'), await find('idle'), await find('offline')]
      const asked: BSON.Document[] = []
      const silent = [0, 19, 20].map((minutes, n) =>
        log.append(positionReported({ deviceId: `d-${n}`, receivedAt: now - minutes * 60_000 })),
      )
      await store.project(batchOf(...(silent as [PositionEntry, ...PositionEntry[]])))
      proxy.watch((bytes) => {
        const command = commandIn(bytes)
        if (command?.['pipeline'] !== undefined) asked.push(command)
      })
      expect(await all()).toEqual([['d-0'], ['d-1', 'd-2'], []])
      expect(asked).toHaveLength(3)
      expect(JSON.stringify(asked)).not.toContain('$lookup')

      await store.changeDeviceSettings({
        accountId,
        deviceId: 'd-1',
        changedAt: T0,
        expectedIntervalSeconds: 600,
      })
      await store.changeDeviceSettings({
        accountId,
        deviceId: 'd-2',
        changedAt: T0,
        expectedIntervalSeconds: 10,
      })
      expect(await all()).toEqual([['d-0', 'd-1'], [], ['d-2']])
      const others = Array.from({ length: 1_100 }, (_, n) => ({
        _id: `${accountId}/x-${n}`,
        accountId,
        deviceId: `x-${n}`,
        ...OWN_INTERVAL,
      }))
      await settings.insertMany(others)
      expect(await all()).toEqual([['d-0', 'd-1'], [], ['d-2']])
    },
  )
})

const OWN_INTERVAL = { disabled: false, expectedIntervalSeconds: 3_600 }

/** The command of a message of MongoDB's wire protocol, where the message is a command. */
function commandIn(bytes: Buffer): BSON.Document | undefined {
  if (bytes.length < 26 || bytes.readInt32LE(12) !== OP_MSG || bytes[20] !== 0) return undefined
  const size = bytes.readInt32LE(21)
  return BSON.deserialize(bytes.subarray(21, 21 + size))
}
