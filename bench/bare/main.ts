import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { carryOut } from '../fork.ts'
import { MEASURED } from '../load/requests.ts'
import type { BareOrder } from './start-bare.ts'

/** Headers that the server sets itself. */
const OWN = new Set(['date', 'connection', 'keep-alive', 'content-length'])

let reports = 0

carryOut(async (order: BareOrder) => (order === 'count' ? reports : listen(order)))

async function listen(service: Exclude<BareOrder, 'count'>): Promise<string> {
  const { status, headers, body } = await sampleAnswer(service)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const report = JSON.parse(Buffer.concat(chunks).toString()) as { deviceId?: string }
      if (report.deviceId !== undefined) reports += 1
      response.writeHead(status, headers).end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends one report to a service, and returns its answer as arguments of `writeHead` and `end`. */
async function sampleAnswer({ url, key }: Exclude<BareOrder, 'count'>) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const sent = request(`${url}/api/v1/gps/submit`, { method: 'POST', headers })
  const place = { deviceId: 'bench-0', latitude: 52.5163, longitude: 13.3777 }
  sent.end(JSON.stringify({ ...place, timestamp: new Date().toISOString(), ...MEASURED }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, rawHeaders } = response
  const body = await text(response)
  const repeated: Record<string, string> = { 'Content-Length': String(Buffer.byteLength(body)) }
  // Names and values alternate.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at)
    if (!OWN.has(name.toLowerCase())) repeated[name] = value
  }
  return { status, headers: repeated, body }
}
