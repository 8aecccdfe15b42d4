import { describe, expect, test } from '@jest/globals'
import { connectionText, listExceptions, motionText } from '../../../console/core/device-words.ts'
import { newDevice } from '../../../console/core/live-device.ts'
import type { Motion } from '../../../console/core/motion.ts'

const NOW = Date.parse('2026-01-31T12:00:00.000Z')
const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const still = { speed: 0, place: { latitude: 0, longitude: 0 }, sinceMs: undefined, atMs: NOW }

function text(
  motion: Partial<Motion>,
  {
    status = 'online' as const,
    lastSeenMs = NOW,
    clockMs = 0,
  }: { status?: 'online' | 'idle'; lastSeenMs?: number; clockMs?: number } = {},
) {
  const timestamp = new Date(NOW + clockMs).toISOString()
  const position = { ...POSITION, timestamp }
  return motionText({ status, lastSeenMs, motion: { ...still, ...motion }, position }, NOW)
}

const POSITION = {
  recordId: 'record-1',
  latitude: 0,
  longitude: 0,
  receivedAt: new Date(NOW).toISOString(),
}

describe('the description of a device', () => {
  test('its connection is Online, Quiet or Offline, and how long ago', () => {
    const words = (['online', 'idle', 'offline', 'disabled'] as const).map((status) =>
      connectionText({ status, lastSeenMs: NOW - 4 * MINUTE }, NOW),
    )
    expect(words).toEqual([
      'Online, 4 min ago',
      'Quiet, 4 min ago',
      'Offline, 4 min ago',
      'Disabled, 4 min ago',
    ])
  })

  test('it moves or is stationary, and since when, if known', () => {
    expect(text({ speed: 8.6 })).toBe('Moving 31 km/h')
    expect(text({ sinceMs: NOW - 12 * MINUTE })).toBe('Stopped 12 min')
    expect(text({ sinceMs: NOW - 100 * MINUTE })).toBe('Stopped 1 h 40 min')
    expect(text({ sinceMs: NOW - 59_000 })).toBe('Stopped')
    expect(text({})).toBe('Stopped')
    expect(text({ speed: undefined })).toBeUndefined()
  })

  test('a clock that is ahead is mentioned, whether it moves or not', () => {
    expect(text({ speed: 8.6 }, { clockMs: 180 * MINUTE })).toBe('Moving 31 km/h · clock 3 h ahead')
    expect(text({ speed: undefined }, { clockMs: 5 * MINUTE })).toBe('clock 5 min ahead')
    expect(text({ speed: undefined }, { clockMs: MINUTE })).toBeUndefined()
  })

  test('a device that is not online has no description of its current motion', () => {
    const quiet = { status: 'idle', lastSeenMs: NOW - 20 * MINUTE } as const
    const atMs = quiet.lastSeenMs
    expect(text({ speed: 8.6, atMs }, quiet)).toBe('Was moving 31 km/h')
    expect(text({ sinceMs: NOW - 40 * MINUTE, atMs }, quiet)).toBe('Was stopped')
  })

  test('a position much older than the newest receipt says how old it is', () => {
    const seen = { lastSeenMs: NOW - 4 * MINUTE }
    expect(text({ speed: 8.6, atMs: NOW - 2 * DAY }, seen)).toBe('position 2 d old')
    expect(text({ speed: 8.6, atMs: NOW - 8 * MINUTE }, seen)).toBe('Moving 31 km/h')
  })

  test('exceptions are silence, raised rules and a low battery; a healthy device has none', () => {
    const position = newDevice('van', {
      recordId: 'r',
      latitude: 0,
      longitude: 0,
      battery: 0.4,
      timestamp: '2026-01-31T12:00:00.000Z',
      receivedAt: '2026-01-31T12:00:00.000Z',
    }).position
    const device = { status: 'online' as const, raised: [], position, telemetry: undefined }
    expect(listExceptions(device)).toEqual([])
    const low = { ...position, battery: 0.08 }
    expect(listExceptions({ ...device, status: 'idle', position: low })).toEqual([
      'Quiet',
      'Battery 8 %',
    ])
    expect(listExceptions({ ...device, raised: ['a'] })).toEqual(['Rule raised'])
    expect(listExceptions({ ...device, raised: ['a', 'b'] })).toEqual(['2 rules raised'])
  })
})
