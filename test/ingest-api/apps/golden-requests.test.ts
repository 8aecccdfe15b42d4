import { beforeAll, expect, test } from '@jest/globals'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { compared, goldenRequests, requestsOf } from './golden-requests.ts'
import { rejectionsOf } from './rejections-of.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

// Later than all times that the apps have sent.
beforeAll(() => {
  ingest.clock.time = Date.UTC(2026, 10, 22)
})

const cases = goldenRequests().map((golden) => [golden.id, golden] as const)

/** PhoneTrack's other paths equal `/log/…`, as the document says. */
const ALIAS = /^\/index\.php\/|^\/log[A-Z]|\/client\/index\.php$/

async function request(path: string, init: RequestInit) {
  if (!ALIAS.test(path.split('?')[0] ?? '')) return ingest.request(path, init)
  const answer = await fetch(ingest.url + path, init)
  return { status: answer.status, body: await answer.json() }
}

const WITHOUT_POSITION = 'a device without a position so far has sent a message without one'

test('more than 60 requests of apps are tested', () => {
  expect(cases.length).toBeGreaterThan(60)
})

test.each(cases)('the request %s has the outcome that its source expects', async (_, golden) => {
  // A separate key identifies the outcome of this case; to its account the device is new.
  const { id: keyId, secret } = await ingest.createKeyOfNewAccount()
  const { expect: expected } = golden
  for (const { path, init } of requestsOf(golden, secret)) {
    const { status, body } = await request(path, init)
    if (expected.status === '2xx') expect(Math.floor(status / 100)).toBe(2)
    else expect(status).toBe(expected.status)
    if (expected.answer !== undefined) expect(body).toEqual(expected.answer)
  }
  const events = (await ingest.logged()).filter((event) => event.keyId === keyId)
  // If several events share an id, the first counts.
  const distinct = events.filter(
    ({ recordId }, index) => events.findIndex((event) => event.recordId === recordId) === index,
  )
  expect(distinct).toHaveLength(expected.positions.length)
  expected.positions.forEach((position, index) => {
    const options = { fallback: keyId, now: ingest.clock.now() }
    const { wanted, found } = compared(position, distinct[index]!, options)
    expect(found).toEqual(wanted)
  })
  const rejected = await rejectionsOf(ingest, keyId)
  // The source knows of no rejections of heartbeats.
  const refused = rejected.filter(({ message }) => !message.endsWith(WITHOUT_POSITION))
  expect(refused).toHaveLength(expected.rejected ?? 0)
  expect(JSON.stringify(rejected)).not.toContain(secret)
})
