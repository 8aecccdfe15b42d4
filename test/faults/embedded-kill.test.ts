import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { adminReader, latestPosition } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import { startEmbedded, temporaryDirectory, type Embedded } from '../programs.ts'
import { startLoad, type Acknowledged } from './load.ts'

const KILLS = 10

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let running: Embedded | undefined

beforeAll(async () => {
  directory = await temporaryDirectory()
})

afterAll(async () => {
  running?.process.kill('SIGKILL')
  await running?.ended
  await directory.remove()
})

test(`kill -9 under load, ${KILLS} times: what was acknowledged is stored, once`, async () => {
  running = await startEmbedded(directory.path)
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(running?.output() ?? '')?.[0])
  const acknowledged: Acknowledged[] = []
  const sentTo = new Set<string>()
  let failed = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const load = startLoad({ url: running.ingestUrl, key, run: `run-${kill}` })
    const enough = 50 + Math.floor(Math.random() * 1_500)
    await eventually(() => load.acknowledged.length >= enough, { withinMs: 60_000, everyMs: 1 })
    running.process.kill('SIGKILL')
    await running.ended
    await load.stop()
    acknowledged.push(...load.acknowledged)
    failed += load.failed()
    for (const deviceId of load.sent) sentTo.add(deviceId)
    running = await startEmbedded(directory.path)
  }

  const api = adminReader({ adminUrl: running.adminUrl, key })
  await eventually(async () => (await api.metric('gps_projector_lag_events')) === 0, {
    withinMs: 60_000,
    everyMs: 200,
  })
  const devices = await api.devices()
  const stored = new Map<string, string>()
  let rows = 0
  for (const device of devices) {
    const positions = await api.positions(device.deviceId)
    rows += positions.length
    for (const { recordId } of positions) stored.set(recordId, device.deviceId)
    expect(device.reportCount).toBe(positions.length)
    expect(latestPosition(positions)).toMatchObject(device.lastPosition)
    expect(device.lastSeenAt).toBe(
      positions
        .map(({ receivedAt }) => receivedAt)
        .sort()
        .at(-1),
    )
  }

  const missing = acknowledged.filter(({ recordId, deviceId }) => stored.get(recordId) !== deviceId)
  process.stdout.write(
    `kill -9 of the embedded process: ${KILLS} kills, ${acknowledged.length} acknowledged, ` +
      `${failed} unanswered, ${rows} stored, ${missing.length} missing, ` +
      `${rows - stored.size} doubled\n`,
  )
  expect(missing).toEqual([])
  expect(rows).toBe(stored.size)
  expect(devices.filter(({ deviceId }) => !sentTo.has(deviceId))).toEqual([])
  expect(rows).toBeLessThanOrEqual(acknowledged.length + failed)
})
