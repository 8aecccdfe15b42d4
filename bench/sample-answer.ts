import { request } from 'node:http'
import { MEASURED } from './load/requests.ts'

/** One real answer of the service, for the bare server to repeat. */
export type SampleAnswer = {
  readonly status: number
  /** Names and values alternating, as received. */
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** Sends one report to a service and returns its answer, byte for byte. */
export function sampleAnswer({ url, key }: { url: string; key: string }): Promise<SampleAnswer> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/gps/submit`, { method: 'POST', headers }, (response) => {
      const { statusCode: status = 0, rawHeaders } = response
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status, rawHeaders, body }))
    })
    sent.on('error', reject)
    const timestamp = new Date().toISOString()
    sent.end(
      JSON.stringify({
        deviceId: 'bench-0',
        latitude: 52.5163,
        longitude: 13.3777,
        timestamp,
        ...MEASURED,
      }),
    )
  })
}

/** Headers that the server sets itself. */
const OWN = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** The answer as arguments of `writeHead` and `end`. */
export function answerOf({ status, rawHeaders, body }: SampleAnswer) {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!OWN.has(name.toLowerCase())) headers[name] = rawHeaders[at + 1] ?? ''
  }
  headers['Content-Length'] = String(Buffer.byteLength(body))
  return { status, headers, body }
}
