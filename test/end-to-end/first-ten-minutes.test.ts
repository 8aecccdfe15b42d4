import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { submitTo } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { startEmbedded, startProgram, type Embedded } from '../programs.ts'
import { endedWithTheTests } from '../running-programs.ts'
import { freePort } from '../services/own-server.ts'

const run = promisify(execFile)

function env(directory: string) {
  return { DATA_DIR: directory, INGEST_PORT: '0', ADMIN_PORT: '0' }
}

/** The lines of the welcome text that users paste. */
function pasteable(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith('curl '))
}

describe('a first start', () => {
  let path: string
  let running: Embedded
  beforeAll(async () => {
    path = await ownDirectory()
    running = await startEmbedded(path)
  })

  test('a newcomer pastes the printed lines and sees the device', async () => {
    const lines = await eventually(() => {
      const found = pasteable(running.output())
      return found.length === 3 && found
    })
    const paste = async (line: string) => {
      const { stdout } = await run('sh', ['-c', `${line} -s -S`], { cwd: path })
      return JSON.parse(stdout) as { success: boolean; data: Record<string, unknown> }
    }
    const [report = '', device = '', signIn = ''] = lines
    const accepted = await paste(report)
    expect(accepted).toMatchObject({ success: true, code: 200 })
    const seen = await eventually(async () => {
      const answer = await paste(device)
      return answer.success && answer
    })
    expect(seen.data).toMatchObject({
      deviceId: 'my-first-device',
      status: 'online',
      reportCount: 1,
      lastPosition: { recordId: accepted.data['recordId'], latitude: 52.5163, longitude: 13.3777 },
    })
    expect(await paste(signIn)).toMatchObject({
      success: true,
      data: { operator: { email: 'admin@localhost', role: 'admin', platform: true } },
    })
  })

  test.each(['reporting', 'admin-api'])(
    'the lines of docs/%s.md for a shell get 200',
    async (name) => {
      const text = await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
      const lines = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
        .flatMap(([, block = '']) => block.split(/^(?=curl )/m))
        .filter((line) => line.startsWith('curl '))
      expect(lines).not.toEqual([])
      const { ingestUrl, adminUrl, output } = running
      const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(output())?.[0])
      const paste = async (line: string) => {
        const here = line
          .replaceAll('http://127.0.0.1:8080', ingestUrl)
          .replaceAll('http://127.0.0.1:8081', adminUrl)
          .replaceAll('gps_…', key)
        // The stream does not end by itself.
        const command = `${here.trimEnd()} -s -D headers -m 2 || test $? -eq 28; head -1 headers`
        return (await run('sh', ['-c', command], { cwd: path })).stdout
      }
      const report = { deviceId: 'my-first-device', latitude: 52.5, longitude: 13.4 }
      expect((await submitTo(ingestUrl, key, report)).status).toBe(200)
      for (const line of lines) {
        await eventually(async () => (await paste(line)).includes('HTTP/1.1 200 OK'))
      }
    },
  )

  test('a second program on the same data directory fails with a plain message', async () => {
    const second = startProgram('embedded/main', { env: env(path) })
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('set DATA_DIR to another folder')
  })

  test('SIGTERM ends it with exit code 0 within the deadline', () => endsOn('SIGTERM', running))

  test('the first secrets are printed once and reach no log line or file', async () => {
    const [key = ''] = /gps_[0-9A-Za-z]{38}/.exec(running.output()) ?? []
    expect(key).toHaveLength(42)
    const logged = running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    expect(logged.join('\n')).not.toContain(key)
    await expect(run('grep', ['-r', '-F', '-l', key, path])).rejects.toMatchObject({ code: 1 })

    const again = await startEmbedded(path)
    expect(again.output()).not.toMatch(/gps_|password/i)
  })
})

describe('with ADMIN_EMAIL and ADMIN_PASSWORD', () => {
  const password = 'correct horse battery staple'
  let running: Embedded
  beforeAll(async () => {
    const operator = { ADMIN_EMAIL: 'Ops@Example.com', ADMIN_PASSWORD: password }
    running = await startEmbedded(await ownDirectory(), operator)
  })

  test('no password is generated, and that operator can sign in', async () => {
    expect(running.output()).not.toMatch(/gps_|horse/)
    const answer = await fetch(`${running.adminUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ops@example.com', password }),
    })
    expect(answer.status).toBe(200)
  })

  test('SIGINT ends it with exit code 0 within the deadline', () => endsOn('SIGINT', running))
})

async function endsOn(signal: 'SIGTERM' | 'SIGINT', running: Embedded): Promise<void> {
  running.process.kill(signal)
  running.process.kill(signal)
  // At the deadline it would end with another code.
  expect(await running.ended).toBe(0)
  expect(running.output()).toContain('"msg":"stopped"')
}

describe('a separate start', () => {
  const embedded = embeddedSuite()

  test('--help explains the configuration, and any other argument is rejected', async () => {
    const help = startProgram('embedded/main', { args: ['--help'], env: env(embedded.path) })
    expect(await help.ended).toBe(0)
    expect(help.output()).toContain('.env.example')
    expect(help.output()).toContain('--lan')
    const wrong = startProgram('embedded/main', { args: ['--port=80'], env: env(embedded.path) })
    expect(await wrong.ended).toBe(2)
  })

  test('a SIGTERM to npm start itself also ends the program cleanly', async () => {
    const npm = endedWithTheTests(
      spawn('npm', ['start'], {
        env: { ...process.env, ...env(embedded.path) },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    await eventually(() => npm.output().includes('"msg":"started"'), { withinMs: 60_000 })
    npm.process.kill('SIGTERM')
    await npm.ended
    expect(npm.output()).toContain('"msg":"stopped"')
  })

  test('the program continues after the reader of its output has gone, and stops on request', async () => {
    const port = await freePort()
    const program = 'echo $$ >&2; exec node scripts/run.mjs embedded/main'
    const shell = spawn('sh', ['-c', `sh -c '${program}' | head -n 1`], {
      env: { ...process.env, ...env(embedded.path), INGEST_PORT: String(port), LOG_LEVEL: 'debug' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let pid = ''
    shell.stderr.on('data', (chunk: Buffer) => (pid += chunk.toString()))
    const healthz = () => fetch(`http://127.0.0.1:${port}/healthz`)
    try {
      await eventually(async () => (await healthz()).ok, { withinMs: 60_000 })
      for (let request = 0; request < 20; request += 1) expect((await healthz()).status).toBe(200)
    } finally {
      process.kill(parseInt(pid), 'SIGTERM')
    }
    await new Promise((resolve) => shell.on('close', resolve))
  })
})
