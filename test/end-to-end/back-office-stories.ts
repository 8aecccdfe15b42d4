import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openEventSource, type EventSource } from '../admin-api/stream/event-source.ts'
import { type Deployment, signIn, submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'

type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null }
type Device = {
  readonly deviceId: string
  readonly name: string | null
  readonly reportCount: number
}
type Rejection = { readonly deviceId?: string; readonly error: string; readonly body?: string }
type Told = { readonly deviceId: string; readonly status?: string }

const PROJECTED = { withinMs: 30_000, everyMs: 100 }

/**
 * A day in the back office, on any log and store. Each change must be in force everywhere within
 * `inForceWithinMs`, unless the machine is overloaded.
 */
export function backOfficeStories(
  mode: string,
  start: () => Promise<Deployment>,
  { inForceWithinMs = 60_000 }: { inForceWithinMs?: number } = {},
): void {
  const inForce = { withinMs: inForceWithinMs, everyMs: 100 }

  describe(`${mode}: the back office`, () => {
    let service: Deployment
    let admin: Awaited<ReturnType<typeof signIn>>
    let tugs: { id: string; key: string }

    beforeAll(async () => {
      service = await start()
      admin = await signIn(service.adminUrl)
      tugs = await admin.createKey({ name: 'tugs', deviceIds: ['tug-*'] })
    })

    afterAll(() => service?.remove())

    async function submit(
      key: string,
      report: { deviceId: string; latitude?: unknown; longitude?: number },
    ): Promise<number> {
      const whole = { latitude: 54.3, longitude: 10.1, ...report }
      return (await submitTo(service.ingestUrl, key, whole)).status
    }

    const items = async <T>(path: string) => (await admin.call<Page<T>>('GET', path)).items
    const device = (deviceId: string) => admin.call<Device>('GET', `/devices/${deviceId}`)
    const refused = (status: number) => expect.stringContaining(`: ${status} `)

    test('a report that its key does not allow is rejected and listed with the reason', async () => {
      expect(await submit(tugs.key, { deviceId: 'car-1' })).toBe(403)
      expect(await submit(tugs.key, { deviceId: 'tug-1', latitude: 'north' })).toBe(400)
      const listed = await eventually(async () => {
        const found = await items<Rejection>(`/rejections?keyId=${tugs.id}`)
        return found.length === 2 && found
      }, PROJECTED)
      expect(listed).toEqual([
        expect.objectContaining({ deviceId: 'tug-1', error: 'INVALID_PARAMS', count: 1 }),
        expect.objectContaining({ deviceId: 'car-1', error: 'FORBIDDEN', count: 1 }),
      ])
      expect(listed[0]?.body).toContain('"latitude":"north"')
      expect(await items('/rejections?deviceId=tug-2')).toEqual([])
    })

    test('a key that exceeds its limit is asked to wait, and that is listed too', async () => {
      const { id, key } = await admin.createKey({ name: 'slow', rateLimit: 1 })
      expect(await submit(key, { deviceId: 'tug-1' })).toBe(200)
      expect(await submit(key, { deviceId: 'tug-1' })).toBe(429)
      await eventually(async () => {
        const [refusal] = await items<Rejection>(`/rejections?keyId=${id}`)
        return refusal?.error === 'RATE_LIMITED'
      }, PROJECTED)
      await admin.call('PATCH', `/keys/${id}`, { rateLimit: null })
      await eventually(async () => (await submit(key, { deviceId: 'tug-1' })) === 200, inForce)
    })

    test('the ingest API rejects a disabled device, and accepts it again once enabled', async () => {
      await eventually(() => device('tug-1'), PROJECTED)
      await admin.call('PATCH', '/devices/tug-1', { disabled: true })
      await eventually(async () => (await submit(tugs.key, { deviceId: 'tug-1' })) === 403, inForce)
      await admin.call('PATCH', '/devices/tug-1', { disabled: false })
      await eventually(async () => (await submit(tugs.key, { deviceId: 'tug-1' })) === 200, inForce)
    })

    test('the stream sends positions and statuses as they come, and resumes where it was interrupted', async () => {
      const url = `${service.adminUrl}/api/v1/stream`
      const headers = { Authorization: `Bearer ${service.key}` }
      const told = (source: EventSource, event: string) =>
        source.of(event).map(({ data }) => data as Told)
      const send = async (...devices: string[]) => {
        for (const deviceId of devices) {
          expect(await submit(service.key, { deviceId, latitude: 1, longitude: 2 })).toBe(200)
        }
      }
      const first = await openEventSource(url, headers)
      await eventually(() => first.lastEventId() !== '', PROJECTED)
      await send('ferry')
      await eventually(() => told(first, 'position').length === 1, PROJECTED)
      await eventually(() => told(first, 'device-status').length > 0, PROJECTED)
      expect(told(first, 'device-status')[0]).toMatchObject({ deviceId: 'ferry', status: 'online' })
      first.close()
      await send('ferry', 'yacht', 'ferry')
      const resumed = { ...headers, 'Last-Event-ID': first.lastEventId() }
      const second = await openEventSource(`${url}?deviceId=ferry`, resumed)
      await eventually(() => told(second, 'position').length === 2, PROJECTED)
      await send('yacht', 'ferry')
      await eventually(() => told(second, 'position').length === 3, PROJECTED)
      second.close()
      const devices = told(second, 'position').map(({ deviceId }) => deviceId)
      expect(devices).toEqual(['ferry', 'ferry', 'ferry'])
    })

    test('an erased device disappears before the call returns, and starts afresh', async () => {
      await submit(service.key, { deviceId: 'van' })
      await eventually(() => device('van'), PROJECTED)
      await admin.call('PATCH', '/devices/van', { name: 'Milk' })
      await admin.eraseDevice('van')
      for (const path of ['/devices/van', '/devices/van/positions']) {
        await expect(admin.call('GET', path)).rejects.toMatchObject({ message: refused(404) })
      }
      await expect(admin.eraseDevice('van')).rejects.toMatchObject({ message: refused(404) })
      await submit(service.key, { deviceId: 'van' })
      expect(await eventually(() => device('van'), PROJECTED)).toMatchObject({
        name: null,
        reportCount: 1,
      })
    })

    test('the system page shows every service', async () => {
      const system = await eventually(async () => {
        const found = await admin.call<{
          lag: { events: number } | null
          acceptedPerMinute: number
          instances: readonly { service: string }[]
        }>('GET', '/system')
        const services = new Set(found.instances.map((instance) => instance.service))
        const isWhole = ['ingest-api', 'projector', 'admin-api'].every((one) => services.has(one))
        return isWhole && found.acceptedPerMinute > 0 && found.lag !== null && found
      }, PROJECTED)
      expect(system).toMatchObject({ lag: { events: expect.any(Number) }, deadLetters: 0 })
    })
  })
}
