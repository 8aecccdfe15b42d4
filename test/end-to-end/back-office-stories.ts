import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openEventSource, type EventSource } from '../admin-api/stream/event-source.ts'
import { signIn, type Deployment } from '../deployments.ts'
import { eventually } from '../eventually.ts'

type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null }
type Device = {
  readonly deviceId: string
  readonly name: string | null
  readonly reportCount: number
}
type Rejection = { readonly deviceId?: string; readonly error: string; readonly body?: string }
type AuditEntry = {
  readonly action: string
  readonly actor: { readonly name: string }
  readonly subject: { readonly kind: string; readonly id: string }
}

type Told = { readonly deviceId: string; readonly status?: string }

const VIEWER = { email: 'watch@example.com', password: 'the harbour at night' }
/** A change of the back office is in force everywhere within this time. */
const IN_FORCE = { withinMs: 5_500, everyMs: 100 }
const PROJECTED = { withinMs: 30_000, everyMs: 100 }

/** A day in the back office, whatever the service runs on. */
export function backOfficeStories(mode: string, start: () => Promise<Deployment>): void {
  describe(`${mode}: the back office`, () => {
    let service: Deployment
    let admin: Awaited<ReturnType<typeof signIn>>
    let tugs: { id: string; key: string }
    /** How many reports of each device were accepted. */
    const accepted = new Map<string, number>()

    beforeAll(async () => {
      service = await start()
      admin = await signIn(service.adminUrl)
      tugs = await admin.createKey({ name: 'tugs', deviceIds: ['tug-*'] })
    }, 120_000)

    afterAll(() => service?.remove())

    async function submit(
      key: string,
      report: { deviceId: string; latitude?: unknown; longitude?: number },
    ): Promise<number> {
      const answer = await fetch(`${service.ingestUrl}/api/v1/gps/submit`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ latitude: 54.3, longitude: 10.1, ...report }),
      })
      await answer.arrayBuffer()
      const { deviceId } = report
      if (answer.ok) accepted.set(deviceId, (accepted.get(deviceId) ?? 0) + 1)
      return answer.status
    }

    const items = async <T>(path: string) => (await admin.call<Page<T>>('GET', path)).items
    const device = (deviceId: string) => admin.call<Device>('GET', `/devices/${deviceId}`)
    const refused = (status: number) => expect.stringContaining(`: ${status} `)

    test('a viewer reads everything and changes nothing', async () => {
      await admin.call('POST', '/operators', { ...VIEWER, role: 'viewer' })
      const viewer = await signIn(service.adminUrl, VIEWER)
      expect(await submit(tugs.key, { deviceId: 'tug-1' })).toBe(200)
      await eventually(() => viewer.call('GET', '/devices/tug-1'), PROJECTED)
      const forbidden = viewer.call('PATCH', '/devices/tug-1', { name: 'Mine' })
      await expect(forbidden).rejects.toMatchObject({ message: refused(403) })
      await expect(viewer.createKey()).rejects.toMatchObject({ message: refused(403) })
    })

    test('a report that a key may not make is refused, and listed with its reason', async () => {
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

    test('a key that reports more than its own limit is asked to wait, and that is listed too', async () => {
      const { id, key } = await admin.createKey({ name: 'slow', rateLimit: 1 })
      expect(await submit(key, { deviceId: 'tug-1' })).toBe(200)
      expect(await submit(key, { deviceId: 'tug-1' })).toBe(429)
      await eventually(async () => {
        const [refusal] = await items<Rejection>(`/rejections?keyId=${id}`)
        return refusal?.error === 'RATE_LIMITED'
      }, PROJECTED)
      await admin.call('PATCH', `/keys/${id}`, { rateLimit: null })
      await eventually(async () => (await submit(key, { deviceId: 'tug-1' })) === 200, IN_FORCE)
    })

    test('a disabled device is refused by the ingest API, and taken again when enabled', async () => {
      await admin.call('PATCH', '/devices/tug-1', { disabled: true, name: 'Bugsier 7' })
      await eventually(
        async () => (await submit(tugs.key, { deviceId: 'tug-1' })) === 403,
        IN_FORCE,
      )
      await admin.call('PATCH', '/devices/tug-1', { disabled: false })
      await eventually(
        async () => (await submit(tugs.key, { deviceId: 'tug-1' })) === 200,
        IN_FORCE,
      )
    })

    test('devices are found by name, place and status', async () => {
      await submit(service.key, { deviceId: 'fiji', latitude: -17.5, longitude: 179.9 })
      await eventually(() => device('fiji'), PROJECTED)
      const found = async (query: string) =>
        (await items<Device>(`/devices?${query}`)).map(({ deviceId }) => deviceId)
      expect(await found('q=bugsier')).toEqual(['tug-1'])
      expect(await found('bbox=10,54,11,55')).toEqual(['tug-1'])
      expect(await found('bbox=179,-20,-179,-10')).toEqual(['fiji'])
      expect(await found('status=online&sort=-lastSeenAt')).toEqual(['fiji', 'tug-1'])
      expect(await found('status=offline')).toEqual([])
    })

    test('a history leaves in every format', async () => {
      const path = `${service.adminUrl}/api/v1/devices/tug-1/positions?format=`
      const reportCount = accepted.get('tug-1')
      await eventually(async () => (await device('tug-1')).reportCount === reportCount, PROJECTED)
      const records = (text: string, part: RegExp) => text.match(part)?.length
      for (const [format, type, part] of [
        ['geojson', 'application/geo+json', /"Feature"/g],
        ['gpx', 'application/gpx+xml', /<trkpt /g],
        ['csv', 'text/csv', /^01/gm],
        ['ndjson', 'application/x-ndjson', /^\{.*\}$/gm],
      ] as const) {
        const headers = { Authorization: `Bearer ${service.key}` }
        const answer = await fetch(path + format, { headers })
        expect(answer.headers.get('content-type')).toContain(type)
        expect(answer.headers.get('content-disposition')).toContain('tug-1')
        expect(records(await answer.text(), part)).toBe(reportCount)
      }
    })

    test('the stream tells positions and statuses as they come, and goes on where it was cut', async () => {
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

    test('a rotated key goes on under its new secret, and under its old one for a while', async () => {
      const rotated = await admin.createKey({ name: 'gateway' })
      const since = performance.now()
      const { key: renewed } = await admin.rotateKey(rotated.id, 6)
      expect(await submit(renewed, { deviceId: 'van' })).toBe(200)
      expect(await submit(rotated.key, { deviceId: 'van' })).toBe(200)
      await eventually(async () => (await submit(rotated.key, { deviceId: 'van' })) === 401, {
        withinMs: 30_000,
        everyMs: 100,
      })
      expect(performance.now() - since).toBeGreaterThan(5_500)
      expect(await submit(renewed, { deviceId: 'van' })).toBe(200)
    })

    test('an erased device is gone from the answer on, and begins afresh', async () => {
      await eventually(async () => (await device('van')).reportCount > 1, PROJECTED)
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

    test('another account sees nothing of this one', async () => {
      const other = { email: 'boss@example.net', password: 'quite another harbour' }
      const made = await admin.call<{ id: string }>('POST', '/accounts', {
        name: 'Other',
        admin: other,
      })
      const stranger = await signIn(service.adminUrl, other)
      expect((await stranger.call<Page<Device>>('GET', '/devices')).items).toEqual([])
      for (const path of ['/devices/tug-1', `/keys/${tugs.id}`]) {
        await expect(stranger.call('GET', path)).rejects.toMatchObject({ message: refused(404) })
      }
      await admin.call('PATCH', `/accounts/${made.id}`, { suspended: true })
      await expect(stranger.call('GET', '/devices')).rejects.toMatchObject({
        message: refused(401),
      })
    })

    test('the audit tells who did what, and no secret', async () => {
      const entries = await items<AuditEntry>('/audit?limit=1000')
      const actions = entries.map(({ action, subject }) => `${action} ${subject.kind}`)
      for (const action of [
        'operator.created operator',
        'key.created key',
        'key.rotated key',
        'device.changed device',
        'device.erased device',
        'account.created account',
        'account.suspended account',
      ]) {
        expect(actions).toContain(action)
      }
      expect(new Set(entries.map(({ actor }) => actor.name))).toContain('ops@example.com')
      const text = JSON.stringify(entries)
      for (const secret of [tugs.key, service.key, VIEWER.password]) {
        expect(text).not.toContain(secret)
      }
    })

    test('the system page tells of every service', async () => {
      const system = await eventually(async () => {
        const found = await admin.call<{
          lag: { events: number } | null
          acceptedPerMinute: number
          instances: readonly { service: string }[]
        }>('GET', '/system')
        const services = new Set(found.instances.map((instance) => instance.service))
        return services.size === 3 && found.acceptedPerMinute > 0 && found.lag !== null && found
      }, PROJECTED)
      expect(system).toMatchObject({ lag: { events: expect.any(Number) }, deadLetters: 0 })
    })
  })
}
