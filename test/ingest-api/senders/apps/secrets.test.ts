import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { startIngest, type Answer, type IngestHarness } from '../../ingest-harness.ts'
import { rejectionsOf } from '../rejections-of.ts'
import { OSMAND, OVERLAND } from './app-requests.ts'

let ingest: IngestHarness
const logged: string[] = []

beforeAll(async () => {
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  ingest = await startIngest({ logger })
})

afterAll(() => ingest.close())

/** Everything that was logged, counted, kept and answered. */
async function seenOf(id: string, answers: readonly Answer[]): Promise<string> {
  const rejections = await rejectionsOf(ingest, id)
  const { text } = (await ingest.request('/metrics')).body as { text: string }
  const told = answers.map(({ body, headers }) => [body, ...headers])
  return JSON.stringify([logged, rejections, told, text, await ingest.logged()])
}

function expectNoneOf(secret: string, seen: string): void {
  for (const part of [secret, secret.slice(4), secret.slice(4, -6)]) {
    expect(seen).not.toContain(part)
  }
}

test('nothing of a key in a URL is seen again in logs, metrics, rejections, events or answers', async () => {
  const { id, secret } = await ingest.createKey()
  const encoded = `gps%5f${secret.slice(4)}`
  const paths = [
    `${OSMAND}/${secret}?id=van&lat=95&lon=10&note=${secret}`,
    `${OSMAND}/${encoded}?id=van&lat=95&lon=10&key=${encoded}`,
    `/?id=${secret}&lat=95&lon=10&api_key=${secret}`,
    `/?lat=${secret}&lon=10&key=${secret}`,
    `/log/osmand/${encoded}/van?lat=95&lon=10`,
    `/log/osmand/${secret}/${secret}?lat=1&lon=10`,
    `/nowhere/${secret}?key=${secret}`,
    `/${encoded}`,
    `${OVERLAND}/${secret}`,
    `${OSMAND}/${secret}x?id=van`,
  ]
  const answers = []
  for (const path of paths) answers.push(await ingest.request(path))
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array<number>(6).fill(200),
    ...Array<number>(3).fill(404),
    401,
  ])
  expect(await rejectionsOf(ingest, id)).toHaveLength(6)
  expectNoneOf(secret, await seenOf(id, answers))
  expect(logged.length).toBeGreaterThan(10)
})
