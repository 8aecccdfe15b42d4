import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { FOLD_VERSION } from '../../projector/device-status.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { batchOf, LogOfOneSuite } from '../contracts/store-samples.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../samples.ts'

const directory = directoryForEachTest()

/** One event of each kind that changes a status, with fixed values. Add new kinds here too. */
function fixedEntries(): ProjectionEntry[] {
  const log = new LogOfOneSuite()
  const report = (id: string, deviceId: string, timestamp: number, receivedAt: number) =>
    positionReported({
      recordId: `record-${id}`,
      deviceId,
      keyId: `key-${id}`,
      timestamp: T0 + timestamp,
      receivedAt: T0 + receivedAt,
    })
  const heartbeat = (id: string, deviceId: string, receivedAt: number) =>
    deviceSeen({
      eventId: `seen-${id}`,
      deviceId,
      keyId: `key-${id}`,
      receivedAt: T0 + receivedAt,
    })
  const first = report('b', 'van', 10, 11)
  const [older, ping] = [report('older', 'phone', 8, 9), report('ping', 'phone', 10, 11)]
  return [
    log.append(first),
    log.append({ ...report('a', 'van', 20, 21), speed: 3, battery: 0.5 }),
    log.append(report('late', 'van', 5, 30)),
    log.append({ ...first, receivedAt: T0 + 40, keyId: 'key-repeat' }),
    log.append({ ...report('same-time', 'van', 1, 30) }),
    log.append({ ...report('c', 'bus', 10, 11), attributes: { ignition: true, 'x.y': 1 } }),
    log.append(report('future', 'bus', 9_000, 12)),
    log.append(report('d', 'bus', 13, 13)),
    log.hear(heartbeat('e', 'bus', 50)),
    log.hear(heartbeat('f', 'bus', 45)),
    log.hear(heartbeat('unknown', 'nobody', 50)),
    log.append(report('g', 'tram', 10, 11)),
    log.append(older),
    log.append(ping),
    log.append({ ...report('import', 'tram', -5_000, 60), imported: true }),
    log.append({ ...report('only', 'archive', -5_000, 60), imported: true }),
    log.append(report('h', 'erased', 10, 11)),
    log.hear(heartbeat('i', 'erased', 12)),
    log.erase(deviceErased({ eventId: 'erasure', deviceId: 'erased', erasedAt: T0 + 20 })),
    log.drain(report('withdrawn', 'erased', 10, 19)),
    log.append(report('k', 'erased', 22, 23)),
    log.append({ ...ping, receivedAt: T0 + 20, battery: 0.42, attributes: { charging: true } }),
    log.append({ ...older, receivedAt: T0 + 30, battery: 0.1 }),
    log.append({ ...ping, receivedAt: T0 + 40, battery: 0.1, imported: true }),
    log.hear({ ...heartbeat('l', 'tram', 55), battery: 0.3, attributes: { ignition: true } }),
  ]
}

const GOLDEN = new URL('./fold-version.json', import.meta.url)

test('a fold that gives different device statuses has a new FOLD_VERSION', async () => {
  const store = openSqliteStore({ directory: directory() })
  const [first, ...entries] = fixedEntries()
  await store.project(batchOf(first!, ...entries))
  const devices = await store.pageDevices({ accountId: 'acc-1', limit: 9 })
  await store.close()
  // If statuses change on purpose, raise FOLD_VERSION, and change both in fold-version.json.
  expect({ version: FOLD_VERSION, statuses: devices.map(({ status }) => status) }).toEqual(
    JSON.parse(readFileSync(GOLDEN, 'utf8')),
  )
})
