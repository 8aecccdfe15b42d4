/** @node all */
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import { expect, test } from '@jest/globals'
import { replaceHost, lanAddress, lanWelcome } from '../../embedded/welcome.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { listens, startProgram } from '../programs.ts'

const embedded = embeddedSuite()

function at(address: string, { internal = false } = {}): NetworkInterfaceInfo {
  const netmask = '255.255.255.0'
  return { address, internal, netmask, family: 'IPv4', mac: '00:00:00:00:00:00', cidr: null }
}

const LOOPBACK = { lo: [at('127.0.0.1', { internal: true })] }

test.each([
  ['the only one', { ...LOOPBACK, eth0: [at('192.0.2.2')] }, '192.0.2.2'],
  ['a private one before others', { eth0: [at('203.0.113.9')], en1: [at('10.1.2.3')] }, '10.1.2.3'],
  [
    'none of containers',
    { docker0: [at('172.17.0.1')], wlan0: [at('192.168.1.7')] },
    '192.168.1.7',
  ],
  ['none of a tunnel', { tun0: [at('10.8.0.2')], eth0: [at('192.0.2.2')] }, '192.0.2.2'],
  ['none that no router gave', { en0: [at('169.254.3.4')], en1: [at('172.20.0.5')] }, '172.20.0.5'],
])('phones get the LAN address: %s', (_, interfaces, address) => {
  expect(lanAddress(interfaces)).toBe(address)
})

test('without a network, the start reports that', () => {
  expect(() => lanAddress(LOOPBACK)).toThrow(
    '--lan needs a network: this computer has no address in one. Connect it, or start without --lan',
  )
})

test('an address that already works is not replaced', () => {
  expect(replaceHost('http://0.0.0.0:8081', '192.0.2.2')).toBe('http://192.0.2.2:8081')
  expect(replaceHost('https://gps.example', '192.0.2.2')).toBe('https://gps.example')
})

test('the text links to "Connect a device" and warns that nothing is encrypted', () => {
  const text = lanWelcome('http://192.168.1.7:8081')
  expect(text).toContain('http://192.168.1.7:8081/connect')
  expect(text).toContain('plain HTTP')
  expect(text).toMatch(/[▀▄█]{5}/)
})

test('with --lan a phone reaches the console and reads where to report', async () => {
  const address = lanAddress(networkInterfaces())
  const password = 'correct horse battery staple'
  const program = startProgram('embedded/main', {
    args: ['--lan'],
    env: {
      DATA_DIR: embedded.path,
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      HOST: '127.0.0.1',
      ADMIN_EMAIL: 'a@b.example',
      ADMIN_PASSWORD: password,
    },
  })
  const ingestPort = new URL(await listens(program, 'ingest API')).port
  const consoleUrl = `http://${address}:${new URL(await listens(program, 'admin API')).port}`
  await eventually(() => program.output().includes(`${consoleUrl}/connect`))
  const page = await fetch(`${consoleUrl}/connect`, { headers: { Accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('GPS console')])
  const signedIn = await fetch(`${consoleUrl}/api/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'a@b.example', password }),
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  // A browser on this machine also gets the address that phones use.
  const local = consoleUrl.replace(address, '127.0.0.1')
  const answer = await fetch(`${local}/api/v1/console`, { headers: { Cookie: cookie } })
  const { data } = (await answer.json()) as { data: { ingestUrl: string; loopback: boolean } }
  expect(data).toMatchObject({ ingestUrl: `http://${address}:${ingestPort}`, loopback: false })
  expect((await fetch(`${data.ingestUrl}/healthz`)).status).toBe(200)
})
