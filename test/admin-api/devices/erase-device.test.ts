import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { DependencyError } from '../../../runtime/errors.ts'
import { secretHash } from '../../../schemas/access/api-key.ts'
import type { DeviceErased } from '../../../schemas/events/device-erased.ts'
import { ulid } from '../../../schemas/events/record-id.ts'
import { reportRejected } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'
import type { Store } from '../../../store/store.ts'

let harness: AdminHarness
let headers: Record<string, string>
/** Which steps of the store fail. */
const away = { hide: false, unshare: false, audit: false }

function wrapStore(store: Store): Store {
  return {
    ...store,
    async hideErased(erasure) {
      if (away.hide) throw new DependencyError('the store is away', { retriable: true })
      return store.hideErased(erasure)
    },
    async unshareDevice(device) {
      if (away.unshare) throw new DependencyError('the store is away', { retriable: true })
      return store.unshareDevice(device)
    },
    async appendAudit(entry, lives) {
      if (away.audit) throw new DependencyError('the store is away', { retriable: true })
      return store.appendAudit(entry, lives)
    },
  }
}

beforeAll(async () => {
  harness = await startAdmin({ wrapStore })
  headers = await harness.createSession()
})
beforeEach(() => {
  Object.assign(away, { hide: false, unshare: false, audit: false })
  harness.clock.time += 1000
})

function erase(deviceId: string, as = headers) {
  return harness.api('DELETE', `/devices/${encodeURIComponent(deviceId)}`, { headers: as })
}

/** The erasures in the log. */
async function erasures(): Promise<DeviceErased[]> {
  const stop = new AbortController()
  const found: DeviceErased[] = []
  const left = (await harness.eventLog.extent()).reduce(
    (sum, { first, next }) => sum + next - first,
    0,
  )
  if (left === 0) return found
  let seen = 0
  for await (const item of harness.eventLog.tail({ after: {}, signal: stop.signal })) {
    if (item.kind !== 'batch') continue
    for (const entry of item.entries) if (entry.kind === 'erasure') found.push(entry.event)
    seen += item.entries.length
    if (seen >= left) stop.abort()
  }
  return found
}

test('erasing a device appends the erasure to the log under its account and responds with its time', async () => {
  await harness.project({ deviceId: 'fleet/1' })
  const at = new Date(harness.clock.time).toISOString()
  const answer = await erase('fleet/1')
  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({ success: true, code: 202 })
  expect(answer.body.data).toEqual({ deviceId: 'fleet/1', erasedAt: at })
  expect((await erasures()).at(-1)).toEqual({
    eventId: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
    accountId: 'acc-1',
    deviceId: 'fleet/1',
    erasedAt: harness.clock.time,
  })
})

test('erasing a device removes its name and labels from the audit, which keeps who changed it and when', async () => {
  await harness.project({ deviceId: 'private' })
  const body = { name: 'Name of a person', labels: ['label of a person'] }
  await harness.api('PATCH', '/devices/private', { headers, body })
  const audit = () => harness.api('GET', '/audit?subjectId=private', { headers })
  expect((await audit()).body.data?.items?.[0]).toMatchObject({ details: body })
  const [before] = (await audit()).body.data?.items ?? []
  // Entries with the same time have no order.
  harness.clock.time += 1
  await erase('private')
  const { body: after, text } = await audit()
  expect(text).not.toContain('of a person')
  expect(after.data?.items).toMatchObject([
    { action: 'device.erased' },
    { action: 'device.changed', at: before?.['at'], actor: before?.['actor'] },
  ])
})

test('erasing a device removes its name from entries about a revoked link, and keeps other devices’ labels', async () => {
  await harness.project({ deviceId: 'of Ana' }, { deviceId: 'shared' })
  const expiresAt = new Date(harness.clock.time + 60_000).toISOString()
  const shared = { name: 'Ana is here', deviceIds: ['of Ana'], expiresAt }
  const link = await harness.api('POST', '/shares', { headers, body: shared })
  // Entries with the same time have no order.
  harness.clock.time += 1
  await harness.api('DELETE', `/shares/${link.body.data?.['id'] as string}`, { headers })
  harness.clock.time += 1
  const body = { deviceIds: ['of Ana', 'shared'], add: ['blue'] }
  await harness.api('POST', '/devices/labels', { headers, body })
  harness.clock.time += 1
  await erase('of Ana')
  const { body: after, text } = await harness.api('GET', '/audit?limit=4', { headers })
  expect(text).not.toContain('Ana is here')
  expect(after.data?.items).toMatchObject([
    { action: 'device.erased' },
    { action: 'devices.labelled', details: { deviceIds: ['shared'], add: ['blue'] } },
    { action: 'share.revoked', details: null },
    { action: 'share.created', details: null },
  ])
})

test('erasing a device removes its rejected reports', async () => {
  await harness.project({ deviceId: 'refused' })
  const receivedAt = harness.clock.time
  const of = (deviceId: string) =>
    reportRejected({ deviceId, receivedAt, rejectionId: ulid(receivedAt, randomBytes(10)) })
  await harness.store.saveRejections([of('refused'), of('other')])
  await erase('refused')
  const { body } = await harness.api('GET', '/rejections', { headers })
  expect(body.data?.items).toMatchObject([{ deviceId: 'other' }])
})

test('erasing a device leaves no trace of it, and keeps everything of other devices', async () => {
  const [record, other] = await harness.project(
    { deviceId: 'gone' },
    { deviceId: 'stays' },
    { deviceId: 'gone', accountId: 'acc-2' },
  )
  await erase('gone')
  const paths = ['', '/positions', '/positions?format=csv', '/positions?format=geojson']
  for (const path of paths) {
    expect((await harness.api('GET', `/devices/gone${path}`, { headers })).status).toBe(404)
    expect((await harness.api('GET', `/devices/stays${path}`, { headers })).status).toBe(200)
  }
  const byId = (id = '') => harness.api('GET', `/positions/${id}`, { headers })
  expect((await byId(record?.recordId)).status).toBe(404)
  expect((await byId(other?.recordId)).status).toBe(200)
  for (const query of ['', '?q=gone', '?sort=-lastSeenAt', '?bbox=-180,-90,180,90']) {
    const { body, text } = await harness.api('GET', `/devices${query}`, { headers })
    expect(body.data?.items).toBeDefined()
    expect(text).not.toContain('"gone"')
  }
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  const theirs = await harness.api('GET', '/devices/gone', { headers: bearer(secret) })
  expect(theirs.status).toBe(200)
})

test('erasing a device is recorded in the audit with its actor', async () => {
  await harness.project({ deviceId: 'audited' })
  await erase('audited')
  const { entries } = await harness.store.pageAudit({ accountId: 'acc-1', limit: 1 })
  expect(entries[0]).toMatchObject({
    at: harness.clock.time,
    actor: { kind: 'operator', id: 'op-1', name: 'ana@example.org' },
    action: 'device.erased',
    subject: { kind: 'device', id: 'audited' },
  })
})

test('erasing a device is the same 404 for an unknown device, one of another account, and one already erased', async () => {
  await harness.project({ deviceId: 'of acc-1' }, { deviceId: 'twice' })
  await erase('twice')
  const before = await erasures()
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  const answers = [
    await erase('unheard of'),
    await erase('of acc-1', bearer(secret)),
    await erase('twice'),
    await erase('of acc-1\u0000'),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(404)
    expect(answer.text).toBe(answers[0]?.text)
  }
  expect(await erasures()).toEqual(before)
  expect((await harness.api('GET', '/devices/of%20acc-1', { headers })).status).toBe(200)
})

test('erasing a device accepts no parameter and no broken encoding', async () => {
  await harness.project({ deviceId: 'kept' })
  expect((await harness.api('DELETE', '/devices/kept?force=1', { headers })).status).toBe(400)
  expect((await harness.api('DELETE', '/devices/%ff', { headers })).status).toBe(400)
  expect((await harness.api('GET', '/devices/kept', { headers })).status).toBe(200)
})

test('erasing a device is a 503 if it cannot be completed, and can be repeated', async () => {
  await harness.project({ deviceId: 'again' })
  away.hide = true
  const refused = await erase('again')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  // A device hidden before its erasure is in the log would be invisible for good and never
  // erased.
  expect((await erasures()).at(-1)?.deviceId).toBe('again')
  away.hide = false
  expect((await erase('again')).status).toBe(202)
  expect((await harness.api('GET', '/devices/again', { headers })).status).toBe(404)
})

test.each(['unshare', 'audit'] as const)(
  'erasing a device is completed by a repeat if it was interrupted before its step "%s"',
  async (step) => {
    const deviceId = `cut short at ${step}`
    await harness.project({ deviceId })
    const expiresAt = new Date(harness.clock.time + 60_000).toISOString()
    const body = { name: 'Ferry', deviceIds: [deviceId], expiresAt }
    const created = await harness.api('POST', '/shares', { headers, body })
    const token = created.body.data?.['token'] as string
    away[step] = true
    expect((await erase(deviceId)).status).toBe(503)
    const erasedAt = harness.clock.time
    const before = await erasures()
    away[step] = false
    harness.clock.time += 5_000
    const repeat = await erase(deviceId)
    expect(repeat.status).toBe(202)
    expect(repeat.body.data).toEqual({ deviceId, erasedAt: new Date(erasedAt).toISOString() })
    expect(await erasures()).toEqual(before)
    const { entries } = await harness.store.pageAudit({ accountId: 'acc-1', limit: 1 })
    expect(entries[0]).toMatchObject({ action: 'device.erased', subject: { id: deviceId } })
    expect((await erase(deviceId)).status).toBe(404)
    const shared = await harness.store.findShare(secretHash(token))
    expect(shared?.share.devices).toEqual([])
  },
)
