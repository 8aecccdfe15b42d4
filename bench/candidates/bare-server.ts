import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { carryOut } from '../fork.ts'
import { MEASURED } from '../load/requests.ts'
import type { Candidate } from './candidate.ts'

/** Headers that the server sets itself. */
const OWN = new Set(['date', 'connection', 'keep-alive'])

carryOut(async (service: Pick<Candidate, 'url' | 'key'>) => {
  const { status, headers, body } = await sampleAnswer(service)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(status, headers).end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

/**
 * Sends one report to a service, and returns the response as arguments of `writeHead` and `end`.
 */
async function sampleAnswer({ url, key }: Pick<Candidate, 'url' | 'key'>) {
  const place = { deviceId: 'bench-0', latitude: 52.5163, longitude: 13.3777 }
  const answer = await fetch(`${url}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...place, timestamp: new Date().toISOString(), ...MEASURED }),
  })
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !OWN.has(name)))
  return { status: answer.status, headers, body: await answer.text() }
}
