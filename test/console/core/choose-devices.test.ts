import { describe, expect, test } from '@jest/globals'
import { DEVICE_SORTS, searchWords } from '../../../schemas/devices/device-search.ts'
import {
  chooseDevices,
  countByLabel,
  countByStatus,
  keepOrder,
  readSort,
  sortDevices,
  writeSort,
  type Sort,
} from '../../../console/core/choose-devices.ts'
import { COLUMNS, type ColumnId } from '../../../console/core/device-columns.ts'
import { ageTo, newDevice, rename, type LiveDevice } from '../../../console/core/live-device.ts'

const NOW = Date.parse('2026-01-31T12:00:00.000Z')
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString()

function device(
  deviceId: string,
  {
    name = null,
    seconds = 0,
    ...measured
  }: { name?: string | null; seconds?: number; speed?: number; battery?: number } = {},
): LiveDevice {
  const made = newDevice(deviceId, {
    recordId: deviceId,
    latitude: 1,
    longitude: 2,
    timestamp: at(seconds),
    receivedAt: at(seconds),
    ...measured,
  })
  rename(made, name)
  ageTo(made, NOW)
  return made
}

const ids = (devices: readonly LiveDevice[]) => devices.map(({ deviceId }) => deviceId)
const none: ReadonlySet<string> = new Set()
const ascending = (by: Sort['by']): Sort => ({ by, isDescending: false })
const descending = (by: Sort['by']): Sort => ({ by, isDescending: true })

describe('which devices are listed', () => {
  const fleet = [
    device('van-17'),
    device('van-07', { seconds: -600 }),
    device('van-7-spare'),
    device('truck-07', { name: 'Van of Ana' }),
  ]

  test('every word must occur in name or id; the exact name comes first, then whole words', () => {
    const words = searchWords('van 7')
    const found = chooseDevices(fleet, { statuses: new Set(), label: '', words })
    expect(ids(sortDevices(found, { sort: ascending('match'), pinned: none, words }))).toEqual([
      'van-07',
      'truck-07',
      'van-7-spare',
      'van-17',
    ])
  })

  test('devices that share a word are in the order of their names, whatever the lengths', () => {
    const names = ['Van 10', 'Van 2 of Anastasia', 'Van 1 of Eva', 'Van 3']
    const vans = names.map((name, index) => device(`d-${index}`, { name }))
    const words = searchWords('van')
    const sorted = sortDevices(vans, { sort: ascending('match'), pinned: none, words })
    expect(sorted.map(({ name }) => name)).toEqual([
      ...['Van 1 of Eva', 'Van 2 of Anastasia', 'Van 3', 'Van 10'],
    ])
  })

  test('a status filter excludes other statuses, and all are counted', () => {
    expect(
      ids(chooseDevices(fleet, { statuses: new Set(['idle']), label: '', words: [] })),
    ).toEqual(['van-07'])
    expect(countByStatus(fleet)).toEqual({ online: 3, idle: 1, offline: 0, disabled: 0 })
  })
})

test('a label filter excludes devices without it, and each label is counted', () => {
  const labelled = (deviceId: string, ...labels: string[]) => ({ ...device(deviceId), labels })
  const fleet = [labelled('a', 'Night', 'South'), labelled('b', 'South'), labelled('c')]
  const chosen = chooseDevices(fleet, { statuses: new Set(), label: 'South', words: [] })
  expect(ids(chosen)).toEqual(['a', 'b'])
  expect([...countByLabel(fleet)]).toEqual([
    ['Night', 1],
    ['South', 2],
  ])
})

test('the list sorts by each column that the API sorts by', () => {
  expect(COLUMNS.map(({ field }) => field)).toEqual(expect.arrayContaining([...DEVICE_SORTS]))
})

describe('the order of the list', () => {
  /** Devices that are equal by the column have the same rank. */
  function rankOf(by: ColumnId, id: string): number {
    const column = COLUMNS.find((one) => one.id === by)
    const one = fleet().find(({ deviceId }) => deviceId === id)
    return fleet().filter((other) => one && (column?.compare(other, one) ?? 0) < 0).length
  }

  const fleet = () => [
    device('b', { seconds: -20, speed: 3, battery: 0.5 }),
    device('a', { seconds: -400 }),
    device('c-10', { name: 'van 10', seconds: -10, speed: 9 }),
    device('c-9', { name: 'Van 9', seconds: -5_000, battery: 0.1 }),
  ]

  test.each<[ColumnId, string[]]>([
    ['name', ['a', 'b', 'c-9', 'c-10']],
    ['id', ['a', 'b', 'c-9', 'c-10']],
    ['status', ['b', 'c-10', 'a', 'c-9']],
    ['seen', ['c-9', 'a', 'b', 'c-10']],
    ['position', ['c-9', 'a', 'b', 'c-10']],
    ['first', ['c-9', 'a', 'b', 'c-10']],
  ])('%s sorts both ways', (by, expected) => {
    const sorted = (sort: Sort) => ids(sortDevices(fleet(), { sort, pinned: none }))
    expect(sorted(ascending(by))).toEqual(expected)
    expect(sorted(descending(by)).map((id) => rankOf(by, id))).toEqual(
      expected.map((id) => rankOf(by, id)).reverse(),
    )
  })

  test.each<[ColumnId, string[], string[]]>([
    ['motion', ['b', 'c-10', 'a', 'c-9'], ['c-10', 'b', 'a', 'c-9']],
    ['battery', ['c-9', 'b', 'a', 'c-10'], ['b', 'c-9', 'a', 'c-10']],
  ])('%s sorts both ways, with devices without a value last', (by, up, down) => {
    const sorted = (sort: Sort) => ids(sortDevices(fleet(), { sort, pinned: none }))
    expect([sorted(ascending(by)), sorted(descending(by))]).toEqual([up, down])
  })

  test('devices with equal values are ordered by the numbers in their names', () => {
    const vans = ['van 25', 'van 7', 'van 10', 'van 1', 'van 3'].map((name, index) =>
      device(`veh-${index}`, { name }),
    )
    const words = searchWords('van')
    for (const sort of [ascending('match'), ascending('motion'), descending('reports')]) {
      const sorted = sortDevices([...vans], { sort, pinned: none, words })
      expect(sorted.map(({ name }) => name)).toEqual([
        ...['van 1', 'van 3', 'van 7', 'van 10', 'van 25'],
      ])
    }
  })

  test('devices with equal values are in the order of their ids, in both directions', () => {
    const equal = () => [device('b'), device('a'), device('c')]
    for (const sort of [ascending('reports'), descending('reports')]) {
      expect(ids(sortDevices(equal(), { sort, pinned: none }))).toEqual(['a', 'b', 'c'])
    }
  })

  test('pinned devices are first', () => {
    const sorted = sortDevices(fleet(), { sort: ascending('name'), pinned: new Set(['c-10']) })
    expect(ids(sorted)).toEqual(['c-10', 'a', 'b', 'c-9'])
  })

  test('devices with an SOS come before pinned devices', () => {
    const order = { sort: ascending('name'), pinned: new Set(['a']), sos: new Set(['c-10']) }
    expect(ids(sortDevices(fleet(), order))).toEqual(['c-10', 'a', 'b', 'c-9'])
  })

  test('a frozen order drops erased devices and adds new ones at the end', () => {
    const [b, a, ten, nine] = fleet() as [LiveDevice, LiveDevice, LiveDevice, LiveDevice]
    expect(ids(keepOrder([a, nine, ten], [b, ten, a]))).toEqual(['c-10', 'a', 'c-9'])
  })

  test('the address can name every order; without one, search results are sorted by relevance', () => {
    for (const { id } of COLUMNS) {
      for (const sort of [ascending(id), descending(id)]) {
        expect(readSort(writeSort(sort), { words: [] })).toEqual(sort)
      }
    }
    expect(readSort('', { words: [] })).toEqual(ascending('name'))
    expect(readSort('', { words: [], hasSpot: true })).toEqual(ascending('distance'))
    expect(readSort('-seen', { words: [], hasSpot: true })).toEqual(descending('seen'))
    expect(readSort('nonsense', { words: searchWords('van') })).toEqual(ascending('match'))
  })

  test('the devices nearest to a spot come first, across 180° too', () => {
    const at = (deviceId: string, latitude: number, longitude: number) =>
      Object.assign(device(deviceId), {
        position: { ...device(deviceId).position, latitude, longitude },
      })
    const fleet = [at('east', 0, 179.5), at('west', 0, -179.6), at('north', 0.2, 179.9)]
    const near = { latitude: 0, longitude: 179.9 }
    const sorted = (sort: Sort) => ids(sortDevices([...fleet], { sort, pinned: none, near }))
    expect(sorted(ascending('distance'))).toEqual(['north', 'east', 'west'])
    expect(sorted(descending('distance'))).toEqual(['west', 'east', 'north'])
  })
})
