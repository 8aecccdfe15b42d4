import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { signHeaders } from '../../deliverer/send/send-items.ts'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import { eventually } from '../eventually.ts'
import { endedWithTheTests, endPrograms, type RunningProgram } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { freePort } from '../services/own-server.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const [, bridge = ''] = /```mjs\n([^]*?)```/.exec(page) ?? []

/** A broker that prints each client message as a line of JSON. */
const BROKER = `
import { createServer } from 'node:net'
import { Aedes } from 'aedes'
const broker = await Aedes.createBroker()
broker.on('publish', ({ topic, payload, qos, retain }, client) => {
  if (client) console.log(JSON.stringify({ topic, data: JSON.parse(payload), qos, retain }))
})
createServer(broker.handle).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'))
`

await describeWith(['mqtt'], 'the MQTT bridge of docs/webhooks.md', ({ mqtt }) => {
  const secret = newSigningSecret()
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let brokerPort = 0
  let port = 0
  let broker: RunningProgram

  beforeAll(async () => {
    directory = await temporaryDirectory()
    const { path } = directory
    await symlink(mqtt.modules, join(path, 'node_modules'))
    await writeFile(join(path, 'bridge.mjs'), bridge)
    await writeFile(join(path, 'broker.mjs'), BROKER)
    brokerPort = await freePort()
    port = await freePort()
    broker = await startBroker()
    start('bridge.mjs', [], {
      SECRET: secret,
      MQTT_URL: `mqtt://127.0.0.1:${brokerPort}`,
      PORT: String(port),
    })
    await eventually(async () => (await post({ type: 'test', data: {} }, 'test_1')) === 204)
  })
  afterAll(async () => {
    await endPrograms()
    await directory?.remove()
  })

  function start(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
    const options = { cwd: directory.path, env: { ...process.env, ...env } }
    return endedWithTheTests(spawn(process.execPath, [file, ...args], options))
  }

  async function startBroker(): Promise<RunningProgram> {
    const started = start('broker.mjs', [String(brokerPort)])
    await eventually(() => started.output().startsWith('listening'))
    return started
  }

  /** The messages about devices, once the broker has printed this many. */
  async function published(count: number): Promise<readonly unknown[]> {
    const lines = () =>
      broker
        .output()
        .split('\n')
        .filter((line) => line.includes('van'))
    await eventually(() => lines().length >= count && broker.output().endsWith('\n'))
    return lines().map((line) => JSON.parse(line) as unknown)
  }

  /** The status of the response. */
  async function post(content: object, id: string, sent = JSON.stringify(content)) {
    const body = JSON.stringify(content)
    const headers = signHeaders(body, { id, now: Date.now(), secrets: [secret] })
    const request = { method: 'POST', headers, body: sent }
    return (await fetch(`http://127.0.0.1:${port}/`, request)).status
  }

  const position = (recordId: string) => {
    return { type: 'position', data: { recordId, deviceId: 'van/7', latitude: 48, longitude: 16 } }
  }
  const fact = (id: string) => ({ type: 'device.online', data: { id, deviceId: 'van/7' } })
  const onPosition = (id: string) => {
    return { topic: 'gps/van%2F7/position', data: position(id).data, qos: 1, retain: true }
  }
  const onFact = (id: string) => {
    return { topic: 'gps/van%2F7/device.online', data: fact(id).data, qos: 1, retain: false }
  }

  test('items are published in order under their device, the last position is retained, and a forged request publishes nothing', async () => {
    expect(await post(fact('f-1'), 'f-1')).toBe(204)
    expect(await post(fact('f-2'), 'f-2', JSON.stringify(fact('forged')))).toBe(500)
    const items = [position('r-1'), fact('f-3')]
    expect(await post({ type: 'batch', data: { items, mark: 'm' } }, 'batch_1')).toBe(204)
    expect(await published(3)).toEqual([onFact('f-1'), onPosition('r-1'), onFact('f-3')])
  })

  test('a request gets its response only once the broker has its items', async () => {
    broker.process.kill()
    await broker.ended
    let isAnswered = false
    const answer = post(position('r-2'), 'r-2').finally(() => (isAnswered = true))
    // It responds to others meanwhile.
    expect(await post(fact('f-4'), 'f-4', 'forged')).toBe(500)
    expect(isAnswered).toBe(false)
    broker = await startBroker()
    expect(await answer).toBe(204)
    expect(await published(1)).toEqual([onPosition('r-2')])
  })
})
