import { expect, test } from '@jest/globals'
import { BSON } from 'mongodb'
import { batchOf, deviceErased, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { withDatabase } from './database.ts'
import { flakyProxy } from './flaky-proxy.ts'

const OP_MSG = 2013

await describeWith(['mongodb'], 'reading from MongoDB', ({ mongodb }) => {
  test('every read says for how long it is wanted, so that one that was given up ends', async () => {
    await withDatabase(mongodb, async (database) => {
      const proxy = await flakyProxy(database.url)
      const store = await database.open({ url: proxy.url })
      const asked: BSON.Document[] = []
      try {
        const log = new LogOfOneSuite()
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
        await store.pageDevices({ accountId, limit: 9, mentions: 'x' })
        await store.devicesWithInterval(accountId)
        await store.erasuresOf({ accountId, deviceIds: [deviceId] })
        await store.hideErased(deviceErased({ deviceId: 'another' }))
        const generation = await store.openGeneration(await store.currentGeneration())
        await generation.accounts()
        await generation.pageStatuses({ accountId, limit: 9 })
        await generation.erasedUpTo({ accountId, deviceIds: [deviceId] })
      } finally {
        await store.close()
        await proxy.close()
      }
      const reads = asked.filter((command) => 'find' in command || 'aggregate' in command)
      const collections = reads.map((command) => String(command['find'] ?? command['aggregate']))
      expect(new Set(collections)).toEqual(
        new Set(['meta', 'positions_g1', 'device_status_g1', 'device_settings', 'hidden_devices']),
      )
      expect(reads.filter(({ maxTimeMS }) => maxTimeMS !== 5_000)).toEqual([])
    })
  })
})

/** The command of a message of MongoDB's wire protocol, where the message is a command. */
function commandIn(bytes: Buffer): BSON.Document | undefined {
  if (bytes.length < 26 || bytes.readInt32LE(12) !== OP_MSG || bytes[20] !== 0) return undefined
  const size = bytes.readInt32LE(21)
  return BSON.deserialize(bytes.subarray(21, 21 + size))
}
