import { beforeAll, expect, test } from '@jest/globals'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceErased } from '../contracts/store-samples.ts'
import { bearer, startAdmin, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let ana: Record<string, string>
let ben: Record<string, string>
let chief: Record<string, string>
let sequence = 0

beforeAll(async () => {
  harness = await startAdmin()
  ana = await session('mia@example.org', 'dispatcher')
  ben = await session('ben@example.org', 'dispatcher')
  chief = await session('chief@example.org', 'admin')
})

async function session(email: string, role: 'admin' | 'dispatcher' | 'viewer') {
  const { id } = await harness.createOperator({ email, role })
  return harness.createSession(id)
}

/** Decides a fact, and returns its id. */
async function decide(changes: Partial<DeviceFact> = {}): Promise<string> {
  sequence += 1
  const at = harness.clock.time
  const named = { accountId: 'acc-1', deviceId: 'van-1', ...changes }
  const common = { ...named, sequence, at, decidedAt: at, inside: [] }
  const unnamed = { type: 'alarm.reported', alarm: 'sos', late: false, ...common } as DeviceFact
  const fact = { ...unnamed, id: factId(unnamed, '') }
  const { accountId, deviceId } = fact
  const state = { sequence, applied: {}, due: null }
  const judge = () => ({ state, facts: [fact] })
  await harness.store.judgeFacts({ devices: [{ accountId, deviceId, judge }] })
  return fact.id
}

const call = (what: string, id: string, headers: Record<string, string>, body?: object) =>
  harness.api('POST', `/facts/${id}/${what}`, { headers, ...(body && { body }) })

async function listed(id: string) {
  const { body } = await harness.api('GET', '/facts', { headers: ana })
  const items = (body.data?.['items'] ?? []) as { id: string; handling?: object }[]
  return items.find((one) => one.id === id)
}

test('every reader of a taken alarm sees who took it and when', async () => {
  const id = await decide()
  expect(await listed(id)).not.toHaveProperty('handling')
  const { status, body } = await call('take', id, ana)
  const at = new Date(harness.clock.time).toISOString()
  const handling = { state: 'taken', operator: 'mia@example.org', at }
  expect([status, body.data]).toMatchObject([200, { id, alarm: 'sos', handling }])
  expect(await listed(id)).toEqual(body.data)
})

test('a second operator gets a 409 that names the first', async () => {
  const id = await decide()
  await call('take', id, ana)
  for (const what of ['take', 'release', 'close']) {
    const { status, body } = await call(what, id, ben)
    expect([status, body.error]).toEqual([409, 'CONFLICT'])
    expect(body.message).toBe('mia@example.org has taken it')
  }
  await call('close', id, ana)
  expect((await call('take', id, ben)).body.message).toBe('mia@example.org has closed it')
})

test('a repeat is a 200 that changes nothing, and leaves one entry in the audit', async () => {
  const id = await decide()
  const first = await call('take', id, ana)
  harness.clock.time += 1_000
  const again = await call('take', id, ana)
  expect(again.status).toBe(200)
  expect(again.body.data).toEqual(first.body.data)
  const { entries } = await harness.store.pageAudit({
    accountId: 'acc-1',
    action: 'fact.taken',
    limit: 9,
  })
  const own = entries.filter(({ details }) => details?.['factId'] === id)
  expect(own).toMatchObject([
    {
      actor: { name: 'mia@example.org' },
      subject: { kind: 'device', id: 'van-1' },
      details: { factId: id, alarm: 'sos' },
    },
  ])
})

test('closing stores a note; releasing reopens the alarm for others', async () => {
  const id = await decide()
  const closed = await call('close', id, ana, { note: 'False alarm' })
  expect(closed.body.data).toMatchObject({ handling: { state: 'closed', note: 'False alarm' } })
  await call('release', id, ana)
  expect((await call('take', id, ben)).body.data).toMatchObject({
    handling: { state: 'taken', operator: 'ben@example.org' },
  })
  expect((await call('release', id, chief)).status).toBe(200)
  const long = await call('close', id, ana, { note: 'x'.repeat(501) })
  expect([long.status, long.body.message]).toEqual([
    400,
    'note must be a text of 1 to 500 characters',
  ])
})

test('only alarms and raised rules can be handled', async () => {
  const online = await decide({ type: 'device.online', previous: null })
  const { status, body } = await call('take', online, ana)
  expect([status, body.message]).toEqual([
    409,
    'only alarm.reported and rule.raised can be taken and closed',
  ])
  const rule = { id: 'rule-1', name: 'Too warm', revision: 1 }
  const raised = await decide({ type: 'rule.raised', rule })
  expect((await call('take', raised, ana)).status).toBe(200)
})

test('viewers, other accounts and keys of other devices cannot handle facts', async () => {
  const id = await decide()
  const viewer = await session('viewer@example.org', 'viewer')
  expect((await call('take', id, viewer)).status).toBe(403)
  const theirs = await decide({ accountId: 'acc-2' })
  const unknown = await call('take', theirs, ana)
  expect([unknown.status, unknown.body.message]).toEqual([404, 'there is no event with this id'])
  const key = await harness.createKey({ scopes: ['admin'], name: 'Control room' })
  expect((await call('take', id, bearer(key.secret))).body.data).toMatchObject({
    handling: { operator: 'Control room' },
  })
})

test('an erased device leaves neither handling nor details in the audit', async () => {
  const id = await decide({ deviceId: 'gone' })
  await call('close', id, ana, { note: 'The driver is Eva' })
  const device = { accountId: 'acc-1', deviceId: 'gone' }
  await harness.store.hideErased(deviceErased(device))
  await harness.store.finishErasures(device)
  expect((await call('take', id, ana)).status).toBe(404)
  const { accountId } = device
  expect((await harness.store.findHandlings({ accountId, factIds: [id] })).size).toBe(0)
  const { entries } = await harness.store.pageAudit({ accountId, subjectId: 'gone', limit: 9 })
  expect(JSON.stringify(entries)).not.toContain('Eva')
})

test('feeds carry facts without their handling', async () => {
  const id = await decide()
  await call('take', id, ana)
  const facts = await harness.store.findFacts({ accountId: 'acc-1', ids: [id] })
  expect(facts).toHaveLength(1)
  expect(facts[0]).not.toHaveProperty('handling')
})
