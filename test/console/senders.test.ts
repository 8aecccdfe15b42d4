import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SENDERS } from '../../console/pages/connect/senders.ts'

/** Everything that a shell, a template or a string literal might take for its own. */
const DEVICE_ID = `van's "7" \\ $HOME \`id\` %LAT %s 🚚`
const KEY = `gps_${'a'.repeat(38)}`

let server: Server
let address: string
const received: { url: string; authorization: string; type: string; body: unknown }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      received.push({
        url: request.url ?? '',
        authorization: request.headers.authorization ?? '',
        type: request.headers['content-type'] ?? '',
        body: JSON.parse(text),
      })
      response.end('{"success":true}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
})

describe('what is shown to be copied sends a report of that device with that key', () => {
  test.each([
    ['curl', 'sh', ['-c']],
    ['node', process.execPath, ['--input-type=module', '-e']],
    ['python', 'python3', ['-c']],
  ])('%s', async (id, program, options) => {
    // CI has them all; a developer's machine may lack Python.
    if (process.env['CI'] === undefined && spawnSync(program, ['--version']).error) return
    received.length = 0
    const text = snippets(id)[0]?.text ?? ''
    const run = spawn(program, [...options, text], { stdio: 'ignore' })
    const [code] = (await once(run, 'exit')) as [number]
    expect(code).toBe(0)
    expect(received).toMatchObject([
      {
        url: '/api/v1/gps/submit',
        authorization: `Bearer ${KEY}`,
        type: 'application/json',
        body: { deviceId: DEVICE_ID, latitude: 48.2082, longitude: 16.3738 },
      },
    ])
  })

  test('GPSLogger, which puts its values where a % stands', () => {
    const [url, method, headers, body] = snippets('gpslogger').map(({ text }) => text)
    expect(url).toBe(`${address}/api/v1/gps/submit`)
    expect(method).toBe('POST')
    expect(headers).toBe(`Authorization: Bearer ${KEY}\nContent-Type: application/json`)
    const filled = String(body)
      .replaceAll('%TIME', '2026-01-31T12:00:00Z')
      .replaceAll(/%(LAT|LON|ACC|ALT)/g, '1.5')
    expect(JSON.parse(filled)).toEqual({
      deviceId: DEVICE_ID,
      latitude: 1.5,
      longitude: 1.5,
      timestamp: '2026-01-31T12:00:00Z',
      accuracy: 1.5,
      altitude: 1.5,
    })
  })

  test('Arduino, whose string is a format of printf', () => {
    const text = snippets('arduino')[0]?.text ?? ''
    const [, literal = ''] = /snprintf\(body, sizeof body, (".*"), latitude/.exec(text) ?? []
    const format = JSON.parse(literal) as string
    expect(format.replaceAll(/%\.6f|%%/g, '')).not.toContain('%')
    const body = format.replaceAll('%.6f', '1.5').replaceAll('%%', '%')
    expect(JSON.parse(body)).toEqual({ deviceId: DEVICE_ID, latitude: 1.5, longitude: 1.5 })
  })

  test('Arduino checks the certificate where the address is encrypted', () => {
    const sketch = SENDERS.find(({ id }) => id === 'arduino')
      ?.snippets({ address: 'https://gps.example', key: KEY, deviceId: 'a' })
      .map(({ text }) => text)
      .join('')
    expect(sketch).toContain('client.setCACert(AUTHORITY)')
  })
})

function snippets(id: string) {
  const sender = SENDERS.find((one) => one.id === id)
  return sender?.snippets({ address, key: KEY, deviceId: DEVICE_ID }) ?? []
}
