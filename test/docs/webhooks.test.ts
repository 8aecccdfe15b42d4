import crypto from 'node:crypto'
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { signHeaders } from '../../deliverer/send/send-items.ts'
import { startAdmin } from '../admin-api/admin-harness.ts'
import { ownDirectory } from '../own-directory.ts'
import { BODY, cases, example, has, secret, secrets } from './webhook-cases.ts'

const run = promisify(execFile)

test('the command of docs/webhooks.md creates a subscription', async () => {
  const harness = await startAdmin()
  const { secret: key } = await harness.createKey({ scopes: ['admin'] })
  const command = example('sh')
    .replace('gps_…', key)
    .replace('http://127.0.0.1:8081', harness.url)
    .replace('curl ', 'curl --silent --show-error --max-time 20 ')
  const { stdout } = await run('sh', ['-c', command])
  expect(JSON.parse(stdout)).toMatchObject({ code: 201, data: { name: 'Office' } })
})

test('the JavaScript example verifies requests', () => {
  // Apart from the import it has one statement.
  expect(example('js')).toContain('new Webhook(secret).verify(body, headers)')
  for (const { body, headers, isOurs } of cases()) {
    const verify = () => new Webhook(secret).verify(body, headers)
    if (isOurs) expect(verify()).toEqual(JSON.parse(BODY))
    else expect(verify).toThrow()
  }
})

const ifPython = has('python3', '--version') ? test : test.skip

ifPython('the example in Python verifies', async () => {
  const directory = await ownDirectory()
  const file = join(directory, 'check.py')
  const check = `
import json, sys
for case in json.loads(sys.argv[1]):
    try:
        verified(sys.argv[2], case["body"].encode(), case["headers"])
        print(True)
    except ValueError:
        print(False)
`
  await writeFile(file, example('python') + check)
  const { stdout } = await run('python3', [file, JSON.stringify(cases()), secret])
  expect(stdout.trim().split(/\s+/)).toEqual(['True', 'False', 'False', 'False'])
})

test('the serverless function rejects forged requests, handles each item once, and then responds', async () => {
  const directory = await ownDirectory()
  const modules = new URL('../../node_modules', import.meta.url)
  await symlink(modules, join(directory, 'node_modules'))
  const check = `
const taken = []
let isDown = true
const handle = webhookHandler({
  secret: process.argv[3],
  seen: new Set(),
  async take(item) {
    if (isDown) throw new Error('down')
    taken.push(item)
  },
})
const answers = []
for (const { body, headers } of JSON.parse(process.argv[2])) {
  const send = () => handle(new Request('http://x/', { method: 'POST', body, headers })).then(({ status }) => status, () => 'sent again')
  answers.push(await send())
  isDown = false
  answers.push(await send())
}
console.log(JSON.stringify({ answers, taken }))
`
  const file = join(directory, 'check.mjs')
  await writeFile(file, example('javascript') + check)
  const item = { type: 'position', timestamp: 'x', data: { recordId: 'r-1' } }
  const fact = { type: 'device.online', timestamp: 'x', data: { id: 'f-1' } }
  const requests = [
    [fact, 'f-1'],
    [{ type: 'batch', data: { items: [item, fact], mark: 'm' } }, 'batch_1'],
  ] as const
  const sent = requests.map(([content, id]) => {
    const body = JSON.stringify(content)
    return { body, headers: signHeaders(body, { id, now: Date.now(), secrets }) }
  })
  const forged = { ...sent[0]!, body: `${sent[0]!.body} ` }
  const { stdout } = await run('node', [file, JSON.stringify([...sent, forged]), secret])
  const { answers, taken } = JSON.parse(stdout) as { answers: unknown[]; taken: object[] }
  expect(answers).toEqual(['sent again', 204, 204, 204, 401, 401])
  expect(taken).toEqual([{ type: fact.type, data: fact.data }, item])
})

test('the code for n8n verifies the raw body and returns each item separately', async () => {
  type Code = (
    this: object,
    required: unknown,
    input: object,
    env: object,
  ) => Promise<readonly { readonly json: unknown }[]>
  const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => Code
  const code = new AsyncFunction('require', '$input', '$env', example('n8n'))
  const outcomes = await Promise.all(
    cases().map(({ body, headers }) =>
      code
        .call(
          { helpers: { getBinaryDataBuffer: async () => Buffer.from(body) } },
          () => crypto,
          { first: () => ({ json: { headers } }) },
          { WEBHOOK_SECRET: secret },
        )
        .then(
          (items) => items.map(({ json }) => json),
          () => 'refused',
        ),
    ),
  )
  const [ours, ...others] = outcomes
  expect(ours).toEqual([JSON.parse(BODY)])
  expect(others).toEqual(['refused', 'refused', 'refused'])
})
