import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { adminReader, type DeviceView } from '../admin-reader.ts'
import { submitTo } from '../deployments.ts'
import type { Deployment } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../programs.ts'
import { pointsOf, tracks, type WrittenPoint } from '../recorded-tracks.ts'

/** The service's promises to its users, in every deployment. */
export function deploymentStories(mode: string, start: () => Promise<Deployment>): void {
  describe(`${mode}: recorded tracks`, () => {
    let service: Deployment
    /**
     * The position in the feed of facts, and each fact's device by fact id. A feed may show a fact
     * twice.
     */
    let mark = 'start'
    const online = new Map<string, string>()

    beforeAll(async () => {
      service = await start()
    })

    afterAll(() => service?.remove())

    async function simulate(...args: string[]): Promise<string> {
      const program = startProgram('commands/simulate/main', {
        args: ['--url', service.ingestUrl, ...args],
        env: { GPS_KEY: service.key },
      })
      const code = await program.ended
      if (code !== 0) throw new Error(program.output())
      return program.output()
    }

    async function caughtUp(): Promise<void> {
      const api = adminReader(service)
      await eventually(
        async () => {
          for (const file of tracks) {
            const { reportCount } = await api.device(basename(file, '.gpx'))
            if (reportCount < pointsOf(file).length) return false
          }
          return true
        },
        { withinMs: 60_000, everyMs: 100 },
      )
    }

    test('the service reports its version', async () => {
      const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
      const { version } = JSON.parse(file) as { version: string }
      const answer = await fetch(`${service.ingestUrl}/`)
      expect(await answer.json()).toMatchObject({ data: { version } })
    })

    test('every point is stored in time order with its own coordinates', async () => {
      await simulate('--times', 'original', ...tracks.flatMap((file) => ['--gpx', file]))
      await caughtUp()
      const api = adminReader(service)
      for (const file of tracks) {
        const points = pointsOf(file)
        const deviceId = basename(file, '.gpx')
        const stored = await api.positions(deviceId)
        const times = stored.map(({ timestamp }) => timestamp)
        expect(times).toEqual([...times].sort())
        const place = ({ latitude, longitude }: WrittenPoint | (typeof stored)[number]) =>
          `${latitude} ${longitude}`
        expect(stored.map(place).sort()).toEqual(points.map(place).sort())
        for (const { time, ...point } of points) {
          if (time === undefined) continue
          expect(stored).toContainEqual(
            expect.objectContaining({ ...point, timestamp: new Date(time).toISOString() }),
          )
        }
        const device = await api.device(deviceId)
        expect(device.reportCount).toBe(points.length)
        expect(stored.at(-1)).toMatchObject(device.lastPosition)
      }
    })

    test('the feed of facts has the first fact of every device', async () => {
      const wanted = tracks.map((file) => basename(file, '.gpx'))
      await eventually(
        async () => {
          const { items, mark: next } = await feed(`after=${mark}&limit=1000&type=device.online`)
          mark = next
          for (const { id, deviceId } of items) online.set(id, deviceId)
          return wanted.every((deviceId) => [...online.values()].includes(deviceId))
        },
        { withinMs: 60_000, everyMs: 200 },
      )
      expect([...online.values()].sort()).toEqual([...wanted].sort())
    })

    test('resending the same files adds no record, even after a restart', async () => {
      const before = await Promise.all((await adminReader(service).devices()).map(withHistory))
      service = await service.restart()
      await simulate('--times', 'original', ...tracks.flatMap((file) => ['--gpx', file]))
      // A new report follows all of its device's repeats: once it is stored, they were processed.
      const last = { deviceId: 'after-all', latitude: 1, longitude: 2 }
      await submitTo(service.ingestUrl, service.key, last)
      await eventually(() => adminReader(service).device('after-all'), { withinMs: 60_000 })
      const found = await eventually(
        async () => {
          const page = await feed(`after=${mark}&waitSeconds=10`)
          mark = page.mark
          return page.items.length > 0 && page
        },
        { withinMs: 60_000 },
      )
      const facts = new Map(found.items.map((fact) => [fact.id, fact]))
      expect([...facts.values()]).toMatchObject([{ type: 'device.online', deviceId: 'after-all' }])
      expect(found.gap).toBeUndefined()
      const devices = await adminReader(service).devices()
      const known = devices.filter(({ deviceId }) => deviceId !== 'after-all')
      const after = await Promise.all(known.map(withHistory))
      expect(after.map(apartFromSigns)).toEqual(before.map(apartFromSigns))
      // A repeat is a sign of life.
      for (const [n, { device }] of after.entries()) {
        expect(device.lastSeenAt > (before[n]?.device.lastSeenAt ?? '')).toBe(true)
      }
    })

    async function feed(query: string) {
      const answer = await fetch(`${service.adminUrl}/api/v1/feeds/facts?${query}`, {
        headers: { Authorization: `Bearer ${service.key}` },
      })
      const { data } = (await answer.json()) as {
        data: {
          items: { id: string; type: string; deviceId: string }[]
          mark: string
          gap?: boolean
        }
      }
      return data
    }

    test('SIGTERM ends every process with exit code 0', async () => {
      expect(new Set(await service.stop())).toEqual(new Set([0]))
    })

    function apartFromSigns({ device, positions }: Awaited<ReturnType<typeof withHistory>>) {
      const signs = { status: undefined, lastSeenAt: undefined, lastKeyId: undefined }
      return { ...device, ...signs, positions }
    }

    async function withHistory(device: DeviceView) {
      return { device, positions: await adminReader(service).positions(device.deviceId) }
    }
  })
}
