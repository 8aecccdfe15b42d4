import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startEmbedded, temporaryDirectory, type Embedded } from '../programs.ts'
import { startLoad, type Acknowledged } from './load.ts'

const KILLS = 10

type Page<T> = { data: { items: T[]; nextCursor: string | null } }
type Position = { recordId: string; timestamp: string; receivedAt: string }
type Device = { deviceId: string; reportCount: number; lastPosition: Position; lastSeenAt: string }

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

  const api = reader(running.adminUrl, key)
  const devices = await eventually(
    async () => {
      const found = await api.all<Device>('/api/v1/devices')
      const metrics = await (await fetch(`${running?.adminUrl}/metrics`)).text()
      return /^gps_projector_lag_events 0$/m.test(metrics) && found
    },
    { withinMs: 60_000, everyMs: 200 },
  )
  const stored = new Map<string, string>()
  let rows = 0
  for (const device of devices) {
    const path = `/api/v1/devices/${encodeURIComponent(device.deviceId)}/positions`
    const positions = await api.all<Position>(path)
    rows += positions.length
    for (const { recordId } of positions) stored.set(recordId, device.deviceId)
    expect(device.reportCount).toBe(positions.length)
    expect(device.lastPosition.recordId).toBe(latest(positions).recordId)
    expect(device.lastSeenAt).toBe(
      positions
        .map((position) => position.receivedAt)
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

function latest(positions: readonly Position[]): Position {
  const rank = ({ timestamp, receivedAt, recordId }: Position) =>
    [timestamp < receivedAt ? timestamp : receivedAt, receivedAt, recordId].join(' ')
  return positions.reduce((best, next) => (rank(next) > rank(best) ? next : best))
}

function reader(url: string, key: string) {
  return {
    async all<T>(path: string): Promise<T[]> {
      const items: T[] = []
      let cursor: string | null = null
      do {
        const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const answer = await fetch(`${url}${path}?limit=1000${query}`, {
          headers: { Authorization: `Bearer ${key}` },
        })
        expect(answer.status).toBe(200)
        const page = (await answer.json()) as Page<T>
        items.push(...page.data.items)
        cursor = page.data.nextCursor
      } while (cursor !== null)
      return items
    },
  }
}
