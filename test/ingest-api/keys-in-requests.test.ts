import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { ingestDocument } from '../../ingest-api/openapi.ts'
import { requestsWith, share, textsWith } from '../keys-in-requests.ts'
import { bearer } from './apps/app-requests.ts'
import { ingestForAllTests, type IngestHarness } from './ingest-harness.ts'

let ingest: IngestHarness
const logged: string[] = []
const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
ingestForAllTests((given) => ({ ingest } = given), { logger })

test('an API key anywhere in a request is repeated neither in the response nor in the log', async () => {
  const { secret: key } = await ingest.createKey({
    scopes: ['positions:write', 'positions:import'],
  })
  const said: string[] = []
  const texts = textsWith(key)
  for (const [at, text] of texts.entries()) {
    const reports = [
      { deviceId: text, latitude: 1, longitude: 2 },
      { deviceId: 'a', latitude: text, longitude: 2, [text]: text },
      { deviceId: 'a', latitude: 1, longitude: 2, timestamp: text },
      { deviceId: 'a', latitude: 1, longitude: 2, attributes: { [text]: text } },
      { deviceId: 'a', latitude: 1, longitude: 2, attributes: text },
    ]
    const ours = ['submit', 'batch', 'import'].flatMap((way) =>
      reports.map((report) => ({
        method: 'POST',
        path: `/api/v1/gps/${way}`,
        body: way === 'submit' ? report : { reports: [report] },
      })),
    )
    const requests = [...share(requestsWith(text, ingestDocument()), at, texts.length), ...ours]
    // Together, because a response to an app waits for its rejection.
    const answers = requests.map(async ({ method, path, body }) => {
      const response = await fetch(ingest.url + path, {
        method,
        headers: {
          ...bearer(key),
          'Idempotency-Key': `${text} `,
          ...(body && { 'Content-Type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      if ((await response.text()).includes(key.slice(4, 16))) said.push(`${method} ${path}`)
    })
    await Promise.all(answers)
  }
  expect(said).toEqual([])
  expect(logged.filter((line) => line.includes(key.slice(4, 16)))).toEqual([])
})
