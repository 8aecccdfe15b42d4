import { expect, test } from '@jest/globals'
import { ingestAddresses } from '../../admin-api/ingest-addresses.ts'
import type { MapConfig } from '../../runtime/config/console-variables.ts'
import { startAdmin, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness

async function show(options: Parameters<typeof startAdmin>[0], Host?: string) {
  harness = await startAdmin(options)
  const headers = await harness.createSession()
  return harness.api('GET', '/console', { headers: { ...headers, ...(Host && { Host }) } })
}

const everywhere = ingestAddresses({ host: '0.0.0.0', ingestPort: 8080 }, undefined)

test('the console learns where devices report to, and that only this machine reaches it', async () => {
  expect((await show({})).body.data).toEqual({
    ...{ ingestUrl: 'http://127.0.0.1:8080', loopback: true, map: null },
  })
})

test('an ingest API on every address is told by the host that the console is opened under', async () => {
  const { data } = (await show({ ingest: everywhere })).body
  expect(data).toMatchObject({ ingestUrl: 'http://127.0.0.1:8080', loopback: true })
})

test('where nothing tells the port, there is no address', async () => {
  const ingest = ingestAddresses({ host: '127.0.0.1', ingestPort: 0 }, undefined)
  expect((await show({ ingest })).body.data).toMatchObject({ ingestUrl: null, loopback: false })
})

test.each<[MapConfig, object]>([
  [
    { kind: 'tiles', url: 'https://t.example/{z}/{x}/{y}', attribution: '© t', maxZoom: 19 },
    { kind: 'tiles', url: 'https://t.example/{z}/{x}/{y}', attribution: '© t', maxZoom: 19 },
  ],
  [
    { kind: 'pmtiles', url: 'https://t.example/w.pmtiles' },
    { kind: 'pmtiles', url: 'https://t.example/w.pmtiles', attribution: null, maxZoom: null },
  ],
  [
    { kind: 'pmtiles file', file: '/srv/secret-place/w.pmtiles' },
    { kind: 'pmtiles', url: '/map.pmtiles', attribution: null, maxZoom: null },
  ],
])('a map %j is told as %j', async (map, told) => {
  expect((await show({ map })).body.data).toMatchObject({ map: told })
})
