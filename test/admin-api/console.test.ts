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

test('the console learns the reporting address, and that only this machine can reach it', async () => {
  expect((await show({})).body.data).toEqual({
    ingestUrl: 'http://127.0.0.1:8080',
    loopback: true,
    consoleUrl: null,
    maps: [],
  })
})

test('an ingest API that listens on every address is shown under the host of the console', async () => {
  const { data } = (await show({ ingest: everywhere })).body
  expect(data).toMatchObject({ ingestUrl: 'http://127.0.0.1:8080', loopback: true })
})

test('without a known port there is no address', async () => {
  const ingest = ingestAddresses({ host: '127.0.0.1', ingestPort: 0 }, undefined)
  expect((await show({ ingest })).body.data).toMatchObject({ ingestUrl: null, loopback: false })
})

test('maps are listed by name in order, without the paths of files on the server', async () => {
  const maps: MapConfig[] = [
    { name: 'Tiles', kind: 'tiles', url: 'https://t.example/{z}/{x}/{y}', attribution: '© t' },
    { name: 'w', kind: 'pmtiles', url: 'https://t.example/w.pmtiles', maxZoom: 9 },
    { name: 'Own', kind: 'pmtiles file', file: '/srv/secret-place/w.pmtiles', seenBy: 'Us' },
  ]
  const { data } = (await show({ maps })).body
  const usual = { attribution: null, maxZoom: null, seenBy: null }
  expect(data).toMatchObject({
    maps: [
      {
        ...usual,
        name: 'Tiles',
        kind: 'tiles',
        url: 'https://t.example/{z}/{x}/{y}',
        attribution: '© t',
      },
      { ...usual, name: 'w', kind: 'pmtiles', url: 'https://t.example/w.pmtiles', maxZoom: 9 },
      { ...usual, name: 'Own', kind: 'pmtiles', url: '/map/own-2.pmtiles', seenBy: 'Us' },
    ],
  })
})
