import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { parseOptions } from '../../docs/examples/consumer/options.ts'
import { startAdmin, type AdminHarness } from '../admin-api/admin-harness.ts'
import { MEASUREMENT_FIELDS } from '../../schemas/report/report-fields.ts'
import { T0 } from '../samples.ts'
import { factsOfAllTypes } from '../schemas/facts-samples.ts'

const page = readFileSync(new URL('../../docs/facts.md', import.meta.url), 'utf8')
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!.trim())
const run = promisify(execFile)

let harness: AdminHarness
let secret: string
const facts = factsOfAllTypes({ deviceId: 'van-7' })

beforeAll(async () => {
  harness = await startAdmin()
  ;({ secret } = await harness.createKey())
  const device = { accountId: 'acc-1', deviceId: 'van-7' }
  const state = { sequence: facts.length, applied: {}, due: null }
  await harness.store.judgeFacts({ devices: [{ ...device, judge: () => ({ state, facts }) }] })
})

/** The output of a command of the page, on the service of this test. */
async function outputOf(command: string): Promise<string> {
  const own = command
    .replace('gps_…', secret)
    .replace('http://127.0.0.1:8081', harness.url)
    .replace('curl ', 'curl --silent --show-error --max-time 20 ')
  const { stdout } = await run('sh', ['-c', own])
  return stdout
}

test('docs/facts.md and the OpenAPI document name the unit of every measurement that a rule compares', async () => {
  const sentence = /- `above`, `below` and `clear` are in the unit of the field.*?\n- /s.exec(
    page,
  )?.[0]
  const document = await (await fetch(`${harness.url}/openapi.json`)).text()
  for (const { name, meaning } of MEASUREMENT_FIELDS) {
    const [unit = ''] = /metres per second|metres|degrees|fraction/i.exec(meaning) ?? []
    expect(sentence).toMatch(new RegExp(`\`${name}\`[^,]*${unit}`, 'i'))
    expect(document).toContain(`${name} (${meaning.toLowerCase()})`)
  }
})

test('a test runs every command of docs/facts.md', () => {
  const kinds = [/POST .*\/geofences/s, /POST .*\/rules/s, /after=start/, /after=MARK/, /stream/]
  const known = [...kinds, /example:consumer/]
  expect(commands.map((command) => known.find((kind) => kind.test(command)))).toEqual(known)
})

test('the commands of docs/facts.md create a geofence and a rule', async () => {
  for (const command of commands.slice(0, 2)) {
    expect(JSON.parse(await outputOf(command))).toMatchObject({ success: true, code: 201 })
  }
})

test('the commands of docs/facts.md read the feed of facts, and wait for the next one', async () => {
  type Page = { data: { items: { id: string }[]; mark: string; end: boolean } }
  const { data } = JSON.parse(await outputOf(commands[2]!)) as Page
  expect(data.items.map(({ id }) => id)).toEqual(facts.map(({ id }) => id))
  expect(data.end).toBe(true)
  const waiting = outputOf(commands[3]!.replace('MARK', data.mark))
  const next = { ...facts[0]!, id: '01KDVN9C07000000000000NEXT', sequence: 99, at: T0 }
  const state = { sequence: 99, applied: {}, due: null }
  const { accountId, deviceId } = next
  await harness.store.judgeFacts({
    devices: [{ accountId, deviceId, judge: () => ({ state, facts: [next] }) }],
  })
  const found = JSON.parse(await waiting) as Page
  expect(found.data.items.map(({ id }) => id)).toEqual([next.id])
})

test('the command of docs/facts.md follows facts in the stream', async () => {
  // It is stopped after the first line.
  expect(await outputOf(`${commands[4]!} | head -n 1`)).toMatch(/^retry: \d+/)
})

test('the Kafka command in docs/facts.md is valid for the example consumer', () => {
  const [, args = ''] = commands[5]!.split(' -- ')
  expect(parseOptions(args.split(' '))).toMatchObject({ topic: 'gps.device-events' })
})
