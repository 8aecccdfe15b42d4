import { expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { adminForAllTests, bearer, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

let fleets = 0

/** Three new devices, the first two with labels. */
async function fleet(): Promise<readonly [tug: string, ferry: string, buoy: string]> {
  fleets += 1
  const names = [`tug-${fleets}`, `ferry-${fleets}`, `buoy-${fleets}`] as const
  const [tug, ferry, buoy] = names
  await harness.project({ deviceId: tug }, { deviceId: ferry }, { deviceId: buoy })
  await change(tug, { labels: [harbour(), 'night'] })
  await change(ferry, { labels: [harbour()] })
  return names
}

/** The label of all labelled devices of the newest fleet. */
function harbour(): string {
  return `harbour ${fleets}`
}

function change(deviceId: string, body: object) {
  return harness.api('PATCH', `/devices/${deviceId}`, { headers, body })
}

function changeMany(body: object) {
  return harness.api('POST', '/devices/labels', { headers, body })
}

async function found(query: string, caller = headers): Promise<unknown[] | undefined> {
  const { body } = await harness.api('GET', `/devices?${query}`, { headers: caller })
  return body.data?.items?.map(({ deviceId }) => deviceId)
}

async function counts(caller = headers): Promise<unknown> {
  return (await harness.api('GET', '/labels', { headers: caller })).body.data?.items
}

async function labelsOf(deviceId: string): Promise<unknown> {
  return (await harness.api('GET', `/devices/${deviceId}`, { headers })).body.data?.['labels']
}

async function audited(deviceId: string): Promise<unknown[]> {
  const query = { accountId: 'acc-1', subjectId: deviceId, limit: 9 }
  const { entries } = await harness.store.pageAudit(query)
  return entries.map(({ action, details }) => [action, details])
}

test('labels of a device are replaced as a whole, sorted, and an empty list removes them', async () => {
  const [tug] = await fleet()
  const changed = await change(tug, { labels: ['red', 'blue'] })
  expect(changed.body.data).toMatchObject({ labels: ['blue', 'red'] })
  expect(await labelsOf(tug)).toEqual(['blue', 'red'])
  harness.clock.time += 1
  await change(tug, { labels: [] })
  expect(await labelsOf(tug)).toEqual([])
  expect((await audited(tug))[0]).toEqual(['device.changed', { labels: [] }])
})

test('labels of a device stay when another of its settings changes', async () => {
  const [tug] = await fleet()
  await change(tug, { name: 'Tug', disabled: true })
  expect(await labelsOf(tug)).toEqual([harbour(), 'night'])
})

test.each([
  ['one of 65 characters', ['x'.repeat(65)]],
  ['white space at an end', ['red ']],
  ['a line break', ['a\nb']],
  ['half a character', ['\ud800']],
  ['an API key', [newApiKey()]],
])('labels of a device refuse %s with one error that names the field', async (_, labels) => {
  const [tug] = await fleet()
  const answer = await change(tug, { labels })
  expect(answer.status).toBe(400)
  expect(answer.body.details).toEqual([
    { field: 'labels', message: expect.stringMatching(/^labels must/) },
  ])
})

test('a device may have 16 labels of 64 characters each, in any language', async () => {
  const [tug] = await fleet()
  const labels = Array.from({ length: 16 }, (_, n) => `${'é'.repeat(62)}${n + 10}`)
  expect((await change(tug, { labels })).body.data).toMatchObject({ labels })
})

test('the list of devices combines several labels with the other filters', async () => {
  const [tug, ferry] = await fleet()
  const query = `label=${encodeURIComponent(harbour())}`
  expect(await found(query)).toEqual([ferry, tug])
  expect(await found(`${query}&label=night`)).toEqual([tug])
  expect(await found(`${query}&label=none`)).toEqual([])
  expect(await found(`${query}&q=FERRY`)).toEqual([ferry])
  expect(await found(`${query}&sort=-deviceId`)).toEqual([tug, ferry])
  const pages = await harness.allPages(`/devices?limit=1&${query}`, { headers })
  expect(pages.map(({ deviceId }) => deviceId)).toEqual([ferry, tug])
})

test.each(['label=', 'label=a&label=a', `label=${'x'.repeat(65)}`])(
  'the list of devices rejects %s with one error that names label',
  async (query) => {
    const answer = await harness.api('GET', `/devices?${query}`, { headers })
    expect(answer.status).toBe(400)
    expect(answer.body.details?.map(({ field }) => field)).toEqual(['label'])
  },
)

test('the list of labels counts the devices that the caller sees', async () => {
  const [tug, ferry] = await fleet()
  expect(await counts()).toContainEqual({ label: harbour(), devices: 2 })
  const { secret } = await harness.createKey({ scopes: ['devices:read'], deviceIds: [ferry] })
  expect(await counts(bearer(secret))).toEqual([{ label: harbour(), devices: 1 }])
  expect(await found('label=night', bearer(secret))).toEqual([])
  await harness.api('DELETE', `/devices/${tug}`, { headers })
  expect(await counts()).toContainEqual({ label: harbour(), devices: 1 })
})

test('many devices are labelled in one call, which returns a result for each', async () => {
  const [tug, ferry, buoy] = await fleet()
  await change(buoy, { labels: Array.from({ length: 16 }, (_, n) => `label ${n}`) })
  harness.clock.time += 1
  const body = { deviceIds: [buoy, tug, 'none', ferry], add: ['night'], remove: ['spare'] }
  const answer = await changeMany(body)
  const labels = [harbour(), 'night']
  expect(answer.body.data).toEqual({
    changed: 1,
    refused: 2,
    results: [
      {
        deviceId: buoy,
        error: 'CONFLICT',
        message: 'it would have more than 16 labels: remove some first',
      },
      { deviceId: tug, labels },
      { deviceId: 'none', error: 'NOT_FOUND', message: 'there is no device with this deviceId' },
      { deviceId: ferry, labels },
    ],
  })
  expect(await labelsOf(ferry)).toEqual(labels)
  expect((await changeMany(body)).body.data).toMatchObject({ changed: 0, refused: 2 })
  const labelled = { deviceIds: [tug, ferry].sort(), add: ['night'], remove: ['spare'] }
  expect(await audited(ferry)).toEqual([
    ['devices.labelled', { ...labelled, deviceIds: [ferry] }],
    ['device.changed', { labels: [harbour()] }],
  ])
  expect(await audited('none')).toEqual([])
})

test('labelling many devices is one audit entry, found by each changed device', async () => {
  const fleet = Array.from({ length: 100 }, (_, n) => `many-${n}`)
  for (const deviceId of fleet) await harness.project({ deviceId })
  const before = (await harness.store.pageAudit({ accountId: 'acc-1', limit: 1_000 })).entries
  harness.clock.time += 1
  await changeMany({ deviceIds: [...fleet, 'none'], add: ['convoy'] })
  await changeMany({ deviceIds: fleet, add: ['convoy'] })
  const after = (await harness.store.pageAudit({ accountId: 'acc-1', limit: 1_000 })).entries
  expect(after).toHaveLength(before.length + 1)
  for (const subjectId of ['many-0', 'many-99']) {
    const { body } = await harness.api('GET', `/audit?subjectId=${subjectId}`, { headers })
    expect(body.data?.items).toEqual([
      expect.objectContaining({
        action: 'devices.labelled',
        subject: { kind: 'devices', id: 'acc-1' },
        details: { deviceIds: fleet, add: ['convoy'] },
      }),
    ])
  }
})

test('one call removes labels from many devices', async () => {
  const [tug, ferry, buoy] = await fleet()
  const answer = await changeMany({ deviceIds: [tug, ferry, buoy], remove: [harbour()] })
  expect(answer.body.data).toMatchObject({ changed: 2, refused: 0 })
  expect([await labelsOf(tug), await labelsOf(ferry)]).toEqual([['night'], []])
})

test.each([
  ['add', { deviceIds: ['x'] }],
  ['add', { deviceIds: ['x'], add: [], remove: [] }],
  ['remove', { deviceIds: ['x'], remove: [' a'] }],
  ['remove', { deviceIds: ['x'], add: ['a', 'b'], remove: ['b'] }],
])('labelling many devices rejects an invalid %s: %#', async (field, body) => {
  const answer = await changeMany(body)
  expect(answer.status).toBe(400)
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
})

test('a thousand devices with the longest ids are labelled in one call', async () => {
  const deviceIds = Array.from({ length: 1_000 }, (_, n) => `${'é'.repeat(124)}${1_000 + n}`)
  await harness.project({ deviceId: deviceIds[0] ?? '' }, { deviceId: deviceIds[999] ?? '' })
  const answer = await changeMany({ deviceIds, add: ['long'] })
  expect(answer.body.data).toMatchObject({ changed: 2, refused: 998 })
  const tooLarge = await changeMany({ deviceIds, add: ['x'.repeat(1024 * 1024)] })
  expect(tooLarge.status).toBe(413)
  expect(tooLarge.body.message).toContain('1048576 bytes')
})
