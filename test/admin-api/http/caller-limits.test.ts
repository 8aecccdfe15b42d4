import { connect } from 'node:net'
import { get, type IncomingMessage } from 'node:http'
import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { positionReported } from '../../samples.ts'
import { bearer, startAdmin, type Answer, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness

/** Lists of keys wait until released. */
async function startHeldUp() {
  const held: (() => void)[] = []
  let letGo = false
  harness = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      async pageKeys(query) {
        if (!letGo) await new Promise<void>((resolve) => held.push(resolve))
        return store.pageKeys(query)
      },
    }),
  })
  return {
    held,
    release: () => {
      letGo = true
      for (const go of held) go()
    },
  }
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

async function keyHeaders(): Promise<Record<string, string>> {
  return bearer((await harness.createKey()).secret)
}

/** Headers of one caller: of a key, or of an operator's sessions in rotation. */
async function callersHeaders(kind: 'key' | 'operator') {
  const all = [await harness.createSession(), await harness.createSession()]
  return kind === 'key' ? [await keyHeaders()] : all
}

test.each([
  ['key', 'operator'],
  ['operator', 'key'],
] as const)(
  'one %s may have 8 calls in progress and 32 waiting, over all its sessions; the next is a 429. Six are processed at once, so others of its account are served',
  async (kind, otherKind) => {
    const { held, release } = await startHeldUp()
    const own = await callersHeaders(kind)
    const ask = (n: number) => harness.api('GET', '/keys', { headers: own[n % own.length] ?? {} })
    const answers = Array.from({ length: 40 }, (_, n) => ask(n))
    const refused = await eventually(async () => {
      if (held.length < 6) return undefined
      const answer = await harness.api('GET', '/system', { headers: own[0] ?? {} })
      return answer.status === 429 && answer
    })
    const message = 'one caller may have 40 calls running and waiting: try again in 1 s'
    expect(refused.body).toMatchObject({ error: 'RATE_LIMITED', message })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(held).toHaveLength(6)

    const others = [
      await keyHeaders(),
      (await callersHeaders(otherKind))[0] ?? {},
      await harness.createSession((await harness.createOperator()).id),
    ]
    for (const headers of others) {
      expect((await harness.api('GET', '/system', { headers })).status).toBe(200)
    }
    release()
    expect(new Set(statuses(await Promise.all(answers)))).toEqual(new Set([200]))
    expect((await ask(0)).status).toBe(200)
  },
)

test('eight calls of an account are processed at a time, however many keys and operators it has; calls of the session and other accounts do not wait', async () => {
  const { held, release } = await startHeldUp()
  const headers = await harness.createSession()
  const callers = [headers, ...(await Promise.all([1, 2, 3, 4, 5].map(() => keyHeaders())))]
  const ask = (of: Record<string, string>) => harness.api('GET', '/keys', { headers: of })
  const answers = callers.flatMap((of) => [ask(of), ask(of)])
  await eventually(() => held.length === 8)
  const own = await harness.api('GET', '/session', { headers })
  expect(own.status).toBe(200)
  const other = await harness.createKey({ accountId: 'acc-2', scopes: ['admin'] })
  const others = [1, 2, 3].map(() => ask(bearer(other.secret)))
  await eventually(() => held.length === 11)
  release()
  const all = await Promise.all([...answers, ...others])
  expect(new Set(statuses(all))).toEqual(new Set([200]))
})

test.each(['key', 'operator'] as const)(
  'calls of one %s are rate-limited, over all its sessions and regardless of their outcome',
  async (kind) => {
    harness = await startAdmin({ callLimit: { points: 3, seconds: 60 } })
    const own = await callersHeaders(kind)
    const paths = ['/devices', '/devices/none', '/devices?limit=x', '/devices', '/keys']
    const answers: Answer[] = []
    for (const [n, path] of paths.entries()) {
      answers.push(await harness.api('GET', path, { headers: own[n % own.length] ?? {} }))
    }
    expect(statuses(answers)).toEqual([200, 404, 400, 429, 429])
    const last = answers.at(-1)
    expect(last?.body).toMatchObject({ error: 'RATE_LIMITED' })
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(50)
    const other = await harness.createSession((await harness.createOperator()).id)
    for (const headers of [await keyHeaders(), other]) {
      expect((await harness.api('GET', '/system', { headers })).status).toBe(200)
    }
  },
)

test('open streams do not count as concurrent calls', async () => {
  harness = await startAdmin({ callLimit: { points: 1, seconds: 60 } })
  const { secret } = await harness.createKey()
  const answers: Answer[] = []
  for (const path of ['/stream', '/stream', '/keys', '/keys', '/stream']) {
    answers.push(await harness.api('GET', path, { headers: bearer(secret) }))
  }
  expect(statuses(answers)).toEqual([200, 200, 200, 429, 200])
})

/** An unread file, larger than the buffers on its way. */
async function startWithFile() {
  let pages = 0
  harness = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      async pagePositions({ limit }) {
        pages += 1
        return Array.from({ length: limit }, (_, offset) => ({
          ...positionReported({ deviceId: 'tug' }),
          origin: { partition: 0, offset },
        }))
      },
    }),
  })
  await harness.project({ deviceId: 'tug' })
  const { secret } = await harness.createKey()
  const path = '/api/v1/devices/tug/positions?format=ndjson'
  return { secret, path, pages: () => pages }
}

test('a file counts as a call until the client has read it or disconnected', async () => {
  const { secret, path } = await startWithFile()
  const files: IncomingMessage[] = []
  while (files.length < 6) files.push(await begin(harness.url + path, bearer(secret)))
  let answered = false
  const seventh = harness.api('GET', '/system', { headers: bearer(secret) }).finally(() => {
    answered = true
  })
  const other = await harness.createKey()
  // Later calls of others get their responses meanwhile. Few, because a file that is not taken for 20 s ends.
  for (let time = 0; time < 3; time += 1) {
    await harness.api('GET', '/system', { headers: bearer(other.secret) })
  }
  expect(answered).toBe(false)
  files[0]?.destroy()
  expect((await seventh).status).toBe(200)
  for (const file of files) file.destroy()
})

test('files that wait for earlier responses are closed with their connection', async () => {
  const { secret, path, pages } = await startWithFile()
  const { port } = new URL(harness.url)
  const socket = connect(Number(port), '127.0.0.1')
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`
  socket.write(request.repeat(6))
  await new Promise((resolve) => socket.once('data', () => resolve(socket.pause())))
  await eventually(() => pages() > 6)
  socket.destroy()
  const files: IncomingMessage[] = []
  while (files.length < 6) files.push(await begin(harness.url + path, bearer(secret)))
  expect(files.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(200))
  for (const file of files) file.destroy()
})

async function begin(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
  response.on('error', () => undefined)
  return response.pause()
}

test('keys from an address that keeps sending unknown keys are not looked up, except keys that were valid', async () => {
  const looked: unknown[] = []
  harness = await startAdmin({
    authLimit: { points: 5, seconds: 60 },
    wrapStore: (store) => ({
      ...store,
      findGrant(hash) {
        looked.push(hash)
        return store.findGrant(hash)
      },
    }),
  })
  const ask = async (key: string) =>
    (await harness.api('GET', '/system', { headers: bearer(key) })).status
  const good = await harness.createKey()
  const fresh = await harness.createKey()
  expect(await ask(good.secret)).toBe(200)
  const unknown = await Promise.all(Array.from({ length: 40 }, () => ask(newApiKey())))
  expect(unknown.filter((status) => status === 401)).toHaveLength(5)
  expect(unknown.filter((status) => status === 429)).toHaveLength(35)
  const before = looked.length
  expect(await ask(fresh.secret)).toBe(429)
  expect(await ask('malformed')).toBe(429)
  expect(looked).toHaveLength(before)
  expect(await ask(good.secret)).toBe(200)
  const headers = await harness.createSession()
  expect((await harness.api('GET', '/system', { headers })).status).toBe(200)
})
