import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { batchOf, LogOfOneSuite, type PositionEntry } from '../../contracts/store-samples.ts'
import type { OpenedStore } from '../../contracts/store-suite.ts'
import { countTurns } from '../../count-turns.ts'
import { positionReported, T0 } from '../../samples.ts'
import { openTemporaryStore } from './open-sqlite-store.ts'

const accountId = 'acc-1'

let opened: OpenedStore

beforeEach(async () => {
  opened = await openTemporaryStore()
})

afterEach(() => opened.close())

/** The result of a read, and how often other work ran meanwhile. */
async function read<Found>(find: () => Promise<Found>) {
  const counter = countTurns()
  const found = await find()
  counter.stop()
  return { found, turns: counter.turns() }
}

test('the many records of one hour are counted in several turns', async () => {
  const log = new LogOfOneSuite()
  // Many of them at the same time, counted as a whole.
  const times = Array.from({ length: 45_000 }, (_, n) => T0 + Math.max(0, n - 15_000))
  for (let at = 0; at < times.length; at += 5_000) {
    const some = times
      .slice(at, at + 5_000)
      .map((timestamp) => log.append(positionReported({ accountId, deviceId: 'tug', timestamp })))
    await opened.store.project(batchOf(...(some as [PositionEntry, ...PositionEntry[]])))
  }
  const bounds = [T0 - 1_800_000, T0 + 1_800_000, T0 + 5_400_000]
  const { found, turns } = await read(() =>
    opened.store.countPositions({ accountId, deviceId: 'tug', bounds }),
  )
  expect(found).toEqual([45_000, 0])
  expect(turns).toBeGreaterThanOrEqual(4)
})

test('the lives of very many devices are read in several turns', async () => {
  const deviceIds = Array.from({ length: 12_000 }, (_, n) => `device-${n}`)
  for (const deviceId of ['device-7', 'device-11999']) {
    const erasure = { type: 'device-erased', eventId: deviceId, accountId, deviceId, erasedAt: T0 }
    await opened.store.hideErased(erasure)
  }
  const { found, turns } = await read(() => opened.store.livesOf({ accountId, deviceIds }))
  expect([...found.keys()]).toEqual(['device-7', 'device-11999'])
  expect(turns).toBeGreaterThanOrEqual(2)
})

test('a long page of shares is read in several turns', async () => {
  const createdAt = (n: number) => T0 + Math.floor(n / 2)
  const shares = Array.from({ length: 601 }, (_, n) => ({
    id: `share-${String(n).padStart(4, '0')}`,
    accountId,
    trailMinutes: 0,
    createdAt: createdAt(n),
    expiresAt: T0 + 9_000,
    devices: [{ deviceId: 'tug', ref: `ref-${n}` }],
  }))
  for (const share of shares) await opened.store.createShare(share, Buffer.from(share.id))
  const newest = shares.reverse().map(({ id }) => id)
  const { found, turns } = await read(() => opened.store.pageShares({ accountId, limit: 600 }))
  expect(found.map(({ id }) => id)).toEqual(newest.slice(0, 600))
  expect(turns).toBeGreaterThanOrEqual(2)
  const all = await opened.store.pageShares({ accountId, limit: 1_000 })
  expect(all.map(({ id }) => id)).toEqual(newest)
})
