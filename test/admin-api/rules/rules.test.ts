import { beforeAll, expect, test } from '@jest/globals'
import { newRule } from '../../contracts/store-definitions.ts'
import { adminForAllTests, bearer, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let depot: string
adminForAllTests((given) => ({ harness, headers } = given))
const ask = (method: string, path: string, body?: unknown) =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })
const create = (fields: object) => ask('POST', '/rules', { name: 'Rule', ...fields })

beforeAll(async () => {
  const shape = { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 }
  const answer = await ask('POST', '/geofences', { name: 'Depot', shape })
  depot = String(answer.body.data?.['id'])
})

test('a rule is created, read, listed, changed and deleted, and each change is audited', async () => {
  const when = { field: 'speed', above: 36, clear: 33 }
  const fields = { name: 'Fast', when, forSeconds: 60, labels: ['night'], geofenceIds: [depot] }
  const answer = await ask('POST', '/rules', fields)
  expect(answer.status).toBe(201)
  const now = new Date(harness.clock.now()).toISOString()
  const rule = { ...fields, enabled: true, revision: 1, createdAt: now, changedAt: now }
  expect(answer.body.data).toMatchObject(rule)
  const id = String(answer.body.data?.['id'])
  expect((await ask('GET', `/rules/${id}`)).body.data).toEqual(answer.body.data)
  expect((await ask('GET', '/rules')).body.data?.items).toContainEqual(answer.body.data)
  harness.clock.time += 1
  const change = { when: { stopped: true }, geofenceIds: null }
  const changed = await ask('PATCH', `/rules/${id}`, change)
  expect(changed.body.data).toMatchObject({ when: { stopped: true }, revision: 2, forSeconds: 60 })
  expect(changed.body.data).not.toHaveProperty('geofenceIds')
  expect((await ask('PATCH', `/rules/${id}`, change)).body.data).toEqual(changed.body.data)
  harness.clock.time += 1
  expect((await ask('DELETE', `/rules/${id}`)).status).toBe(200)
  const audit = await ask('GET', `/audit?subjectId=${id}`)
  expect(audit.body.data?.items?.map(({ action }) => action)).toEqual([
    'rule.deleted',
    'rule.changed',
    'rule.created',
  ])
  const gone = await ask('GET', `/rules/${id}`)
  expect(gone.status).toBe(404)
  expect(gone.body.message).toBe('there is no rule with this id')
})

test.each([
  { field: 'battery', below: 0.2, clear: 0.3 },
  { field: 'ignition', is: false },
  { field: 'activity', is: 'walking' },
  { field: 'io.din-1', above: 0 },
  { stopped: true },
  { silent: true },
])('%j is a condition', async (when) => {
  const answer = await create({ when, forSeconds: 10 })
  expect(answer.body.data).toMatchObject({ when })
})

test('a condition may be inside or outside a geofence', async () => {
  for (const when of [{ inside: depot }, { outside: depot }]) {
    expect((await create({ when })).body.data).toMatchObject({ when })
  }
})

const ONE_OF =
  'when must be an object with exactly one of above, below, is, inside, outside, stopped, silent'

test.each<[object, string, string]>([
  [{ when: 7 }, 'when', ONE_OF],
  [{ when: { field: 'speed' } }, 'when', ONE_OF],
  [{ when: { field: 'speed', above: 1, below: 2 } }, 'when', ONE_OF],
  [
    { when: { above: 1 } },
    'when.field',
    'when.field must be the name of a measurement or an attribute',
  ],
  [
    { when: { field: '__proto__', is: 'x' } },
    'when.field',
    'when.field must be the name of a measurement or an attribute',
  ],
  [{ when: { field: 'speed', above: '1' } }, 'when.above', 'when.above must be a number'],
  [
    { when: { field: 'speed', above: 1, clear: 2 } },
    'when.clear',
    'when.clear must be a number, at most that of above',
  ],
  [
    { when: { field: 'speed', below: 1, clear: 0 } },
    'when.clear',
    'when.clear must be a number, at least that of below',
  ],
  [
    { when: { field: 'event', is: 7 } },
    'when.is',
    'when.is must be true, false or a text of at most 256 characters',
  ],
  [{ when: { inside: '' } }, 'when.inside', 'when.inside must be the id of a geofence'],
  [{ when: { stopped: false } }, 'when.stopped', 'when.stopped must be true'],
  [
    { when: { silent: true, field: 'x' }, forSeconds: 60 },
    'when.field',
    'when.field cannot be combined with silent: it takes silent',
  ],
  [
    { when: { silent: true }, forSeconds: 9 },
    'forSeconds',
    'forSeconds must be at least 10 with silent',
  ],
  [
    { when: { stopped: true }, forSeconds: 604_801 },
    'forSeconds',
    'forSeconds must be a whole number from 0 to 604800',
  ],
  [
    { when: { stopped: true }, geofenceIds: [] },
    'geofenceIds',
    'geofenceIds must be a list of 1 to 100 different ids of geofences',
  ],
  [
    { when: { outside: 'nowhere' } },
    'when',
    'when and geofenceIds must name geofences that exist; there is none with the id "nowhere"',
  ],
  [
    { when: { stopped: true }, geofenceIds: ['nowhere'] },
    'when',
    'when and geofenceIds must name geofences that exist; there is none with the id "nowhere"',
  ],
])('%j is rejected with its field', async (fields, field, message) => {
  const answer = await create(fields)
  expect(answer.status).toBe(400)
  expect(answer.body.details).toEqual([{ field, message }])
})

const UNITS = {
  battery: 'a value that battery can pass, which is a fraction from 0 to 1',
  speed: 'a value that speed can pass, which is a number of metres per second, 0 or more',
  accuracy: 'a value that accuracy can pass, which is a number of metres, 0 or more',
  heading: 'a value that heading can pass, which is a number of degrees from 0 to 360',
}

test.each<[keyof typeof UNITS, object, string]>([
  ['battery', { below: 20 }, 'below'],
  ['battery', { above: 80, clear: 0.8 }, 'above'],
  ['battery', { above: 1 }, 'above'],
  ['battery', { below: 0 }, 'below'],
  ['battery', { below: 0.2, clear: 20 }, 'clear'],
  ['speed', { below: 0 }, 'below'],
  ['speed', { above: -1 }, 'above'],
  ['speed', { above: 10, clear: -1 }, 'clear'],
  ['accuracy', { below: -5 }, 'below'],
  ['heading', { above: 360 }, 'above'],
  ['heading', { below: 400 }, 'below'],
])(
  'a threshold that %s cannot reach is rejected with its field and unit: %j',
  async (field, threshold, member) => {
    const answer = await create({ when: { field, ...threshold } })
    expect(answer.status).toBe(400)
    const at = `when.${member}`
    expect(answer.body.details).toEqual([{ field: at, message: `${at} must be ${UNITS[field]}` }])
  },
)

test('the lowest and highest thresholds that a field can pass are accepted, and any threshold of an attribute', async () => {
  for (const when of [
    { field: 'battery', above: 0, clear: 0 },
    { field: 'battery', below: 1, clear: 1 },
    { field: 'heading', above: 359.9 },
    { field: 'temperature', below: -400 },
  ]) {
    expect((await create({ when })).status).toBe(201)
  }
})

test('an out-of-range threshold stored by an earlier version is still read, flagged, and checked on its next change', async () => {
  const accountId = 'acc-1'
  const when = { field: 'battery', below: 20 }
  const createdAt = harness.clock.now()
  const stored = { id: 'stored-earlier', accountId, createdAt, name: 'Low', when, forSeconds: 0 }
  await harness.store.createRule({ ...stored, enabled: true })
  const path = '/rules/stored-earlier'
  expect((await ask('GET', path)).body.data).toMatchObject({ when, outOfRange: true })
  const renamed = await ask('PATCH', path, { name: 'Empty', when })
  expect(renamed.body.data).toMatchObject({ name: 'Empty', when, outOfRange: true, revision: 2 })
  const changed = await ask('PATCH', path, { when: { field: 'battery', below: 15 } })
  expect(changed.body.details).toMatchObject([{ field: 'when.below' }])
  const mended = await ask('PATCH', path, { when: { field: 'battery', below: 0.2 } })
  expect(mended.body.data).not.toHaveProperty('outOfRange')
})

test('a change to a silence that is too short, or to an unknown geofence, is rejected and changes nothing', async () => {
  const answer = await create({ when: { silent: true }, forSeconds: 60 })
  const path = `/rules/${String(answer.body.data?.['id'])}`
  expect((await ask('PATCH', path, { forSeconds: 5 })).status).toBe(400)
  expect((await ask('PATCH', path, { when: { inside: 'nowhere' } })).status).toBe(400)
  expect((await ask('GET', path)).body.data).toEqual(answer.body.data)
})

test('an account has at most 200 rules', async () => {
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  const rules = Array.from({ length: 199 }, () => newRule({ accountId: 'acc-2' }))
  for (const rule of rules) await harness.store.createRule(rule)
  const body = { name: 'Rule', when: { stopped: true } }
  const ask = (method: string, path: string, body?: object) =>
    harness.api(method, path, { headers: bearer(secret), ...(body && { body }) })
  expect((await ask('POST', '/rules', body)).status).toBe(201)
  const answer = await ask('POST', '/rules', body)
  expect(answer.status).toBe(400)
  expect(answer.body.message).toBe('an account has at most 200 rules: delete some first')
  expect((await ask('DELETE', `/rules/${rules[0]!.id}`)).status).toBe(200)
  expect((await ask('POST', '/rules', body)).status).toBe(201)
})
