import type { ApiFact } from '../../../console/core/device-facts.ts'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Fleet } from '../../../console/core/fleet.ts'
import {
  isLater,
  newestTelemetry,
  type ApiDevice,
  type ApiPosition,
} from '../../../console/core/live-device.ts'

const NOW = Date.parse('2026-01-31T12:00:00.000Z')
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString()

function position(seconds: number, more: Partial<ApiPosition> = {}): ApiPosition {
  return {
    recordId: `record-${seconds}`,
    latitude: 50,
    longitude: 10 + seconds / 1_000,
    timestamp: at(seconds),
    receivedAt: at(seconds),
    ...more,
  }
}

function device(deviceId: string, seconds: number, more: Partial<ApiDevice> = {}): ApiDevice {
  return {
    deviceId,
    name: null,
    status: 'online',
    lastSeenAt: at(seconds),
    firstSeenAt: at(-9_000),
    reportCount: 1,
    disabled: false,
    labels: [],
    lastKeyId: 'key-1',
    lastPosition: position(seconds),
    ...more,
  }
}

const record = (deviceId: string, seconds: number, more: Partial<ApiPosition> = {}) => ({
  deviceId,
  ...position(seconds, more),
})

describe('a list and the stream that was opened before it', () => {
  test('the list does not undo a position that arrived before it', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.position(record('a', 10), NOW)
    list.page([device('a', 5, { name: 'Van' })], NOW)
    list.end()
    expect(fleet.devices.get('a')).toMatchObject({
      name: 'Van',
      lastSeenMs: NOW + 10_000,
      position: { recordId: 'record-10' },
    })
  })

  test('a device of imported history was seen when its newest position was recorded', () => {
    const fleet = new Fleet()
    const imported = position(-9_000, { receivedAt: at(0), imported: true })
    const list = fleet.list()
    list.page([device('a', -9_000, { status: 'offline', lastPosition: imported })], NOW)
    list.end()
    expect(fleet.devices.get('a')).toMatchObject({
      lastSeenMs: NOW - 9_000_000,
      status: 'offline',
    })
  })

  test('a device that the list lacks is kept if the stream sent it meanwhile', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.position(record('new', 1), NOW)
    list.page([device('a', 0)], NOW)
    list.end()
    expect([...fleet.devices.keys()].sort()).toEqual(['a', 'new'])
  })

  test('a device erased while nobody listened disappears with the next list', () => {
    const fleet = new Fleet()
    const first = fleet.list()
    first.page([device('a', 0), device('b', 0)], NOW)
    first.end()
    const second = fleet.list()
    second.page([device('a', 0)], NOW)
    second.end()
    expect([...fleet.devices.keys()]).toEqual(['a'])
  })

  test('beyond the console’s limit, the devices that reported least recently are dropped', () => {
    const fleet = new Fleet()
    for (const seconds of [3, 1, 2]) fleet.position(record(`at ${seconds}`, seconds), NOW)
    fleet.trim(2)
    expect([...fleet.devices.keys()].sort()).toEqual(['at 2', 'at 3'])
    fleet.trim(2)
    expect(fleet.devices.size).toBe(2)
  })

  test('an incomplete list removes nothing', () => {
    const fleet = new Fleet()
    const first = fleet.list()
    first.page([device('a', 0), device('b', 0)], NOW)
    first.end()
    fleet.list().page([device('a', 0)], NOW)
    expect(fleet.devices.size).toBe(2)
  })

  test('a device erased while the list loads does not come back, unless it reports again', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.erased('a')
    fleet.erased('b')
    fleet.position(record('b', 3), NOW)
    list.page([device('a', 0), device('b', 0)], NOW)
    list.end()
    expect([...fleet.devices.keys()]).toEqual(['b'])
  })

  test('settings from the stream outlive a list requested before them', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.status(device('a', 1, { name: 'New name', disabled: true }), NOW)
    list.page([device('a', 2, { name: 'Old name' })], NOW)
    list.end()
    expect(fleet.devices.get('a')).toMatchObject({ name: 'New name', status: 'disabled' })
    expect(fleet.devices.get('a')?.position.recordId).toBe('record-2')
  })

  test('settings changed on this page outlive a list or status requested before them', () => {
    const fleet = new Fleet()
    fleet.status(device('a', 1), NOW)
    const list = fleet.list()
    fleet.changed('a', { labels: ['Night shift'] }, NOW)
    list.page([device('a', 1)], NOW)
    list.end()
    fleet.status(device('a', 2), NOW + 2_000)
    fleet.changed('a', { disabled: true }, NOW + 3_000)
    fleet.status(device('a', 3, { name: 'Named elsewhere' }), NOW + 4_000)
    expect(fleet.devices.get('a')).toMatchObject({
      labels: ['Night shift'],
      status: 'disabled',
      name: 'Named elsewhere',
    })
    fleet.status(device('a', 14, { labels: ['Spare'] }), NOW + 14_000)
    expect(fleet.devices.get('a')).toMatchObject({ labels: ['Spare'], status: 'online' })
  })

  test('events in any order, even repeated, lead to the same last position', () => {
    const events = fc.array(
      fc.record({
        seconds: fc.integer({ min: -50, max: 50 }),
        ahead: fc.integer({ min: -500, max: 500 }),
        kind: fc.constantFrom('position', 'status', 'list'),
      }),
      { minLength: 1, maxLength: 20 },
    )
    fc.assert(
      fc.property(events, (told) => {
        const positions = told.map(({ seconds, ahead }, index) =>
          position(seconds, { recordId: `r${index}`, timestamp: at(seconds + ahead) }),
        )
        const expected = positions.reduce((a, b) => (isLater(b, a) ? b : a))
        const fleet = new Fleet()
        for (const [index, { kind }] of told.entries()) {
          const lastPosition = positions[index] ?? expected
          const one = device('a', 0, { lastPosition })
          if (kind === 'position') fleet.position({ deviceId: 'a', ...lastPosition }, NOW)
          else if (kind === 'status') fleet.status(one, NOW)
          else fleet.list().page([one], NOW)
        }
        expect(fleet.devices.get('a')?.position.recordId).toBe(expected.recordId)
      }),
    )
  })
})

describe('standing', () => {
  const parked = { latitude: 52, longitude: 13, speed: 0 }

  test('a device seen arriving on the stream is stationary since then, one from a list is not', () => {
    const fleet = new Fleet()
    fleet.position(record('a', 0), NOW)
    fleet.position(record('a', 5, parked), NOW)
    fleet.position(record('a', 60, parked), NOW)
    const list = fleet.list()
    list.page([device('a', 90, { lastPosition: position(90, parked) })], NOW)
    list.page([device('b', 90, { lastPosition: position(90, parked) })], NOW)
    expect(fleet.devices.get('a')?.motion.sinceMs).toBe(NOW + 5_000)
    expect(fleet.devices.get('b')?.motion.sinceMs).toBeUndefined()
    list.page([device('a', 200, { lastPosition: position(200, { speed: 0 }) })], NOW)
    expect(fleet.devices.get('a')?.motion.sinceMs).toBeUndefined()
  })
})

describe('the order of last positions', () => {
  test('a late report does not move a device back, and a clock that runs ahead does not pin it', () => {
    const fleet = new Fleet()
    fleet.position(record('a', 0), NOW)
    fleet.position(record('a', 5, { recordId: 'late', timestamp: at(-60) }), NOW)
    expect(fleet.devices.get('a')?.position.recordId).toBe('record-0')
    expect(fleet.devices.get('a')?.lastSeenMs).toBe(NOW + 5_000)
    fleet.position(record('a', 6, { recordId: 'ahead', timestamp: at(9_000) }), NOW)
    fleet.position(record('a', 7), NOW)
    expect(fleet.devices.get('a')?.position.recordId).toBe('record-7')
  })
})

describe('a status', () => {
  test('a status ages by itself, by the API’s rule', () => {
    const fleet = new Fleet()
    fleet.status(device('a', 0), NOW)
    fleet.status(device('b', 0, { expectedIntervalSeconds: 10 }), NOW)
    const statuses = () => [...fleet.devices.values()].map(({ status }) => status)
    fleet.age(NOW + 60_000)
    expect(statuses()).toEqual(['online', 'online'])
    fleet.age(NOW + 60_001)
    expect(statuses()).toEqual(['online', 'idle'])
    fleet.age(NOW + 300_001)
    expect(statuses()).toEqual(['idle', 'offline'])
    fleet.age(NOW + 3_600_001)
    expect(statuses()).toEqual(['offline', 'offline'])
  })
})

describe('a device that sends its last position again', () => {
  const first = position(0, { battery: 0.8, attributes: { motion: false } })
  const again = { ...first, receivedAt: at(900), battery: 0.42, attributes: { charging: true } }
  const telemetry = { receivedAt: at(900), battery: 0.42, attributes: { charging: true } }

  function listed(...devices: ApiDevice[]): Fleet {
    const fleet = new Fleet()
    const list = fleet.list()
    list.page(devices, NOW + 900_000)
    list.end()
    return fleet
  }

  test('is online, does not move, and has the current battery: from the stream of positions', () => {
    const fleet = listed(device('a', 0, { lastPosition: first }))
    expect(newestTelemetry(fleet.devices.get('a')!)).toEqual(first)
    fleet.position({ deviceId: 'a', ...again }, NOW + 900_000)
    const known = fleet.devices.get('a')!
    expect(known).toMatchObject({ status: 'online', lastSeenMs: NOW + 900_000, position: first })
    expect(newestTelemetry(known)).toEqual(telemetry)
    fleet.position(record('a', 1_000, { battery: 0.3 }), NOW + 1_000_000)
    expect(newestTelemetry(fleet.devices.get('a')!)).toMatchObject({ battery: 0.3 })
    expect(fleet.devices.get('a')?.telemetry).toBeUndefined()
  })

  test.each(['list', 'stream'])('has the battery that its status says, from the %s', (way) => {
    const told = device('a', 900, { lastPosition: first, telemetry })
    const fleet = listed(way === 'list' ? told : device('a', 0, { lastPosition: first }))
    if (way === 'stream') fleet.status(told, NOW + 900_000)
    expect(fleet.devices.get('a')).toMatchObject({ position: first, telemetry })
    // An earlier status does not undo it, nor a late position.
    fleet.status(device('a', 0, { lastPosition: first }), NOW + 900_000)
    fleet.position(record('a', -500, { receivedAt: at(950) }), NOW + 950_000)
    expect(fleet.devices.get('a')).toMatchObject({ position: first, telemetry })
  })

  test('shows the record itself even if the stream had only its repeat', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.position({ deviceId: 'a', ...again }, NOW + 900_000)
    list.page([device('a', 900, { lastPosition: first, telemetry })], NOW + 900_000)
    list.end()
    expect(fleet.devices.get('a')).toMatchObject({ position: first, telemetry })
  })
})

describe('a device in geofences and with raised rules', () => {
  const of = (type: ApiFact['type'], more: Partial<ApiFact> = {}): ApiFact => ({
    id: type,
    sequence: 1,
    deviceId: 'a',
    inside: [],
    at: at(0),
    decidedAt: at(0),
    type,
    ...more,
  })
  const geofence = { id: 'yard', name: 'Yard', revision: 1 }
  const rule = { id: 'fast', name: 'Too fast', revision: 1 }

  function listed(): Fleet {
    const fleet = new Fleet()
    const list = fleet.list()
    list.page([device('a', 0, { inside: ['port'], raised: ['hot'] })], NOW)
    list.end()
    return fleet
  }

  test('follows the facts on the stream, and statuses do not undo them', () => {
    const fleet = listed()
    fleet.fact(of('geofence.entered', { geofence }))
    fleet.fact(of('rule.raised', { rule }))
    fleet.fact(of('rule.raised', { rule }))
    fleet.status(device('a', 1), NOW)
    expect(fleet.devices.get('a')).toMatchObject({
      inside: ['port', 'yard'],
      raised: ['hot', 'fast'],
    })
    fleet.fact(of('geofence.left', { geofence }))
    fleet.fact(of('rule.cleared', { rule }))
    expect(fleet.devices.get('a')).toMatchObject({ inside: ['port'], raised: ['hot'] })
  })

  test('no longer has a rule that was changed, until a fact of the new revision says so', () => {
    const fleet = listed()
    fleet.rule({ id: 'fast', revision: 1 })
    fleet.fact(of('rule.raised', { rule }))
    fleet.rule({ id: 'fast', revision: 2 })
    expect(fleet.devices.get('a')?.raised).toEqual(['hot'])
    fleet.fact(of('rule.raised', { rule }))
    expect(fleet.devices.get('a')?.raised).toEqual(['hot'])
    fleet.fact(of('rule.raised', { rule: { ...rule, revision: 2 } }))
    fleet.rule({ id: 'fast', revision: 2 })
    expect(fleet.devices.get('a')?.raised).toEqual(['hot', 'fast'])
  })

  test('keeps everything that a fact older than the list does not mention', () => {
    const fleet = listed()
    fleet.fact(of('device.online', { inside: [] }))
    expect(fleet.devices.get('a')).toMatchObject({ inside: ['port'], raised: ['hot'] })
    fleet.fact(of('device.online', { deviceId: 'unknown' }))
    expect(fleet.devices.size).toBe(1)
  })

  test('comes from a list even if a status arrived first, and facts since the list was requested count', () => {
    const fleet = new Fleet()
    const list = fleet.list()
    fleet.status(device('a', 1), NOW)
    fleet.fact(of('geofence.left', { geofence }))
    fleet.fact(of('rule.raised', { rule }))
    list.page([device('a', 0, { inside: ['port', 'yard'], raised: [] })], NOW)
    list.end()
    expect(fleet.devices.get('a')).toMatchObject({ inside: ['port'], raised: ['fast'] })
  })
})
