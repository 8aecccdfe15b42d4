import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import { startAdmin, type AdminHarness } from '../admin-api/admin-harness.ts'
import { ofCsv } from '../admin-api/devices/export/read-files.ts'
import { T0 } from '../samples.ts'

const page = readFileSync(new URL('../../docs/consumers.md', import.meta.url), 'utf8')
const recipe = page.slice(page.indexOf('- **Grafana**'), page.indexOf('- **DuckDB**'))
const [devices = '', track = ''] = [...recipe.matchAll(/^ +(http:.*)$/gm)].map(([, url]) => url)

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  const { secret } = await harness.createKey()
  headers = { Authorization: `Bearer ${secret}` }
  await harness.project({ deviceId: 'my-first-device', latitude: 52.5, timestamp: T0 })
})

/** The response to a query of the recipe, for the hour around T0. */
async function answerTo(url: string): Promise<string> {
  const own = url
    .replace('http://127.0.0.1:8081', harness.url)
    .replace('${__from:date:iso}', new Date(T0 - 1_800_000).toISOString())
    .replace('${__to:date:iso}', new Date(T0 + 1_800_000).toISOString())
  const response = await fetch(own, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

test('the Grafana query for devices in consumers.md finds them by its root and columns', async () => {
  const { data } = JSON.parse(await answerTo(devices)) as { data: { items: object[] } }
  expect(recipe).toContain('the root `data.items`')
  expect(data.items).toHaveLength(1)
  for (const [, column = ''] of recipe.matchAll(/`(lastPosition\.\w+|deviceId|status)`/g)) {
    expect(data.items[0]).toHaveProperty(column)
  }
})

test('the Grafana query for a track in consumers.md returns the columns that it names', async () => {
  const [header = [], row = []] = ofCsv(await answerTo(track))
  const named = [...recipe.matchAll(/`(timestamp|latitude|longitude)`/g)].map(([, name]) => name)
  expect(header).toEqual(expect.arrayContaining(named))
  expect(row[header.indexOf('latitude')]).toBe('52.5')
})
