import { beforeAll, expect, test } from '@jest/globals'
import { searchWords } from '../../../schemas/devices/device-search.ts'
import { rankAmong } from '../../../store/device-ranking.ts'
import type { DeviceQuery, PositionEntry } from '../../../store/read-models.ts'
import { countDevices, isWalkInOrder, walkDevices } from '../../../store/sqlite/device-walk.ts'
import type { Selection } from '../../../store/sqlite/device-rows.ts'
import { openReadModels, type SqliteReadModels } from '../../../store/sqlite/read-models.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { batchOf } from '../../contracts/store-samples.ts'
import { ownDirectory } from '../../own-directory.ts'
import { positionReported, T0 } from '../../samples.ts'

const DEVICES = 3_500
const accountId = 'acc-1'

let models: SqliteReadModels
let selections: { sql: string; rows: number }[] = []

beforeAll(async () => {
  const directory = await ownDirectory()
  // Makes the file of the settings.
  await openSqliteStore({ directory }).close()
  models = openReadModels(directory, 1, { settingsFile: `${directory}/accounts.sqlite` })
  closeAfterwards(async () => models.close())
  const entries = Array.from({ length: DEVICES }, (_, n): PositionEntry => {
    const [deviceId, receivedAt] = [`tracker-${String(n).padStart(4, '0')}`, T0 + n]
    const event = positionReported({ accountId, deviceId, receivedAt })
    return { kind: 'position', origin: { partition: 0, offset: n }, event }
  })
  await models.project(batchOf(...(entries as [PositionEntry])))
})

/** The read models, recording each statement and its number of rows. */
function noted() {
  return {
    hidden: [],
    select<Row>(selection: Selection): Row[] {
      const rows = models.statuses.select<Row>(selection)
      selections.push({ sql: selection.sql, rows: rows.length })
      return rows
    },
  }
}

async function places(query: Partial<DeviceQuery>) {
  selections = []
  const page = { accountId, limit: 9, ...query }
  const walk = walkDevices(page, noted)
  return rankAmong(page, { walk, isInOrder: isWalkInOrder(page) })
}

const nowhere = { west: 0, south: 0, east: 1, north: 1 }

test.each<[string, Partial<DeviceQuery>]>([
  ['a place without devices', { bbox: nowhere }],
  ['a place without devices, by time', { bbox: nowhere, sort: 'lastSeenAt', order: 'desc' }],
  ['a label that no device has', { labels: ['none'] }],
  ['a status that no device has', { status: { is: 'online', now: T0 + 1e10 }, sort: 'lastSeenAt' }],
  ['a word that no device has', { words: searchWords('lorry') }],
])('a search for %s reads at most 1000 devices at a time', async (_, query) => {
  expect(await places(query)).toEqual([])
  const ends = selections.filter(({ sql }) => sql.includes('OFFSET'))
  expect(ends.map(({ rows }) => rows)).toEqual([1, 1, 1, 0])
  for (const { rows } of selections) expect(rows).toBeLessThanOrEqual(1_000)
})

test.each(['asc', 'desc'] as const)(
  'a page in the order of an index (%s) reads only the devices it shows',
  async (order) => {
    for (const sort of ['deviceId', 'lastSeenAt'] as const) {
      expect(await places({ sort, order, limit: 7 })).toHaveLength(7)
      expect(selections.map(({ rows }) => rows)).toEqual([1, 7])
    }
  },
)

test('a page starts where the previous one ended', async () => {
  for (const sort of ['deviceId', 'lastSeenAt'] as const) {
    const first = await places({ sort, limit: 2_000 })
    const after = first.at(-1)
    const second = await places({ sort, limit: 2_000, ...(after && { after }) })
    expect(second).toHaveLength(1_500)
    expect(selections.map(({ rows }) => rows)).toEqual([1, 1_000, 0, 500])
    expect([...first, ...second].map(({ deviceId }) => deviceId)).toEqual(
      Array.from({ length: DEVICES }, (_, n) => `tracker-${String(n).padStart(4, '0')}`),
    )
  }
})

test('devices are counted at most 1000 at a time', async () => {
  selections = []
  const now = T0 + 1_000 + 5 * 60_000
  expect(await countDevices({ accountId, now }, noted)).toEqual({
    total: DEVICES,
    online: DEVICES - 1_000,
    idle: 1_000,
    offline: 0,
    disabled: 0,
  })
  expect(selections.map(({ rows }) => rows)).toEqual([1, 1, 1, 1, 1, 1, 0, 1])
})
