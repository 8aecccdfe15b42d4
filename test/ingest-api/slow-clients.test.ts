import { expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { ingestForAllTests, type IngestHarness } from './ingest-harness.ts'

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

/** The head of a report. */
function head(contentLength: number, authorization = ''): string {
  const headers = `Content-Type: application/json\r\nContent-Length: ${contentLength}\r\n`
  return `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\n${authorization}${headers}\r\n`
}

test('a length that is too short leaves what follows to be no request', async () => {
  const text = head(2, `Authorization: Bearer ${key}\r\n`) + '{}nonsense\r\n\r\n'
  const { received: all, closed } = rawConnection(ingest.url, text)
  await closed
  const received = all()
  expect(received).toMatch(/^HTTP\/1\.1 400 .*HTTP\/1\.1 400 /s)
  expect(received.match(/"success":false/g)).toHaveLength(2)
})

test('a caller without a key gets its answer before its body, however slow that is', async () => {
  const { socket, received } = rawConnection(ingest.url, head(10_000))
  await eventually(() => received() !== '')
  expect(received()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})
