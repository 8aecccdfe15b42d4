import { expect, test } from '@jest/globals'
import { adminForAllTests, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))
const ask = (method: string, path: string, body?: unknown) =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })

const HOOK = { kind: 'webhook', url: 'https://hooks.example.org/x', headers: { 'x-a': 'b' } }
const KINDS = {
  geofences: {
    name: 'Yard',
    shape: { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 },
  },
  rules: { name: 'Fast', when: { field: 'speed', above: 30 } },
  subscriptions: { name: 'Office', source: 'facts', target: HOOK },
}
const NUMBERS = {
  geofences: 'confirmSeconds',
  rules: 'forSeconds',
  subscriptions: 'everySeconds',
} as const

for (const kind of ['geofences', 'rules', 'subscriptions'] as const) {
  const number = NUMBERS[kind]

  async function make() {
    const made = await ask('POST', `/${kind}`, KINDS[kind])
    const path = `/${kind}/${String(made.body.data?.['id'])}`
    return (body: object) => ask('PATCH', path, body)
  }

  test(`when two operators change one of the ${kind}, the second learns which fields the first changed`, async () => {
    const change = await make()
    const first = await change({ name: 'Main yard', labels: ['a'], revision: 1 })
    expect(first.body.data).toMatchObject({ name: 'Main yard', revision: 2 })
    const second = await change({ name: 'Yard', [number]: 30, revision: 1 })
    expect(second.status).toBe(409)
    expect(second.body.error).toBe('CONFLICT')
    expect(second.body.message).toBe(
      `this ${kind === 'subscriptions' ? 'notification' : kind.slice(0, -1)} has been changed in the meantime: read it again, or omit revision to overwrite it`,
    )
    expect(second.body.details).toEqual([
      { field: 'name', message: 'name was changed in revision 2' },
      { field: 'labels', message: 'labels was changed in revision 2' },
    ])
    const again = await change({ [number]: 30, revision: 2 })
    expect(again.body.data).toMatchObject({ name: 'Main yard', [number]: 30, revision: 3 })
    expect((await change({ name: 'x', revision: 2 })).body.details).toEqual([
      { field: number, message: `${number} was changed in revision 3` },
    ])
    const anyhow = await change({ name: 'Yard' })
    expect(anyhow.body.data).toMatchObject({ name: 'Yard', revision: 4 })
  })

  test(`a change of ${kind} that changes nothing keeps the revision, and is not in the audit`, async () => {
    const change = await make()
    const same = await change({
      ...KINDS[kind],
      ...(kind === 'subscriptions' && { source: undefined }),
    })
    expect(same.body.data).toMatchObject({ revision: 1 })
    const audit = await ask('GET', `/audit?subjectId=${String(same.body.data?.['id'])}`)
    expect(audit.body.data?.items).toHaveLength(1)
  })

  test(`a revision alone does not change ${kind}, and an unknown revision is rejected`, async () => {
    const change = await make()
    expect((await change({ revision: 1 })).status).toBe(400)
    expect((await change({ name: 'x', revision: 0 })).body.message).toBe(
      'revision must be the whole number that the last read showed',
    )
    expect((await change({ name: 'x', revision: 7 })).body.details).toEqual([
      { field: 'revision', message: 'revision 7 is not the current one' },
    ])
  })
}

test('a receiver’s new secret counts as a change of its target, although no response shows it', async () => {
  const made = await ask('POST', '/subscriptions', KINDS.subscriptions)
  const path = `/subscriptions/${String(made.body.data?.['id'])}`
  const target = { ...HOOK, headers: { 'x-a': 'c' } }
  expect((await ask('PATCH', path, { target })).body.data).toMatchObject({ revision: 2 })
  const late = await ask('PATCH', path, { name: 'x', revision: 1 })
  expect(late.body.details).toEqual([
    { field: 'target', message: 'target was changed in revision 2' },
  ])
})

test('a PUT accepts the revision too', async () => {
  const path = '/geofences/by-external-id/put-1'
  expect((await ask('PUT', path, { ...KINDS.geofences, revision: 1 })).status).toBe(409)
  await ask('PUT', path, KINDS.geofences)
  const next = await ask('PUT', path, { ...KINDS.geofences, name: 'Main yard', revision: 1 })
  expect(next.body.data).toMatchObject({ name: 'Main yard', revision: 2 })
  const late = await ask('PUT', path, { ...KINDS.geofences, confirmSeconds: 5, revision: 1 })
  expect(late.body.details).toEqual([{ field: 'name', message: 'name was changed in revision 2' }])
})
