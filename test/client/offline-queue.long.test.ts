import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { createKey, operatorEnv } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { endedWithTheTests } from '../running-programs.ts'
import { numbered } from './numbered.ts'

const ROUNDS = 6
const suite = embeddedSuite()

test('killed at any moment and with responses lost, the queue stores each report once and loses none', async () => {
  const { ingestUrl, adminUrl } = await suite.start(operatorEnv())
  const key = await createKey(adminUrl)
  const forgetful = await losingAnswers(ingestUrl)
  const file = join(suite.path, 'queue')
  const options = ['--import', './bench/typescript.mjs', 'test/client/enqueue.ts']
  const enqueue = (...from: string[]) =>
    endedWithTheTests(
      spawn(process.execPath, [...options, file, forgetful.url, key, ...from], { cwd: root }),
    )

  let last = -1
  for (let round = 0; round < ROUNDS; round += 1) {
    const adding = enqueue(String(last + 1))
    await eventually(() => adding.output() !== '', { withinMs: 30_000 })
    await wait(20 + Math.random() * 300)
    adding.process.kill('SIGKILL')
    await adding.ended
    // The last line may be cut off within the number.
    const printed = adding.output().split('\n').slice(0, -1).map(Number)
    last = printed.at(-1) ?? last
  }
  forgetful.rest()
  const draining = enqueue()
  expect([await draining.ended, draining.output()]).toEqual([0, ''])

  const reader = adminReader({ adminUrl, key })
  const stored = await eventually(
    async () => {
      const positions = await reader.positions('tracker')
      return positions.length > last && positions
    },
    { everyMs: 200 },
  )
  const times = stored.map(({ timestamp }) => timestamp)
  expect(new Set(times).size).toBe(times.length)
  expect(times.slice(0, last + 1)).toEqual(
    Array.from({ length: last + 1 }, (_, n) => numbered(n).timestamp),
  )
  expect(forgetful.lost()).toBeGreaterThan(0)
  await forgetful.close()
})

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A proxy to the service that loses every third response until `rest`. */
async function losingAnswers(target: string) {
  let asked = 0
  let lost = 0
  let isLosing = true
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { authorization = '' } = request.headers
      fetch(`${target}${request.url}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: Buffer.concat(chunks),
      })
        .then(async (answer) => {
          asked += 1
          if (isLosing && asked % 3 === 0) {
            lost += 1
            return request.socket.destroy()
          }
          return response.writeHead(answer.status).end(await answer.text())
        })
        .catch(() => request.socket.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    rest: () => (isLosing = false),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
