import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { eventually } from '../eventually.ts'
import { startEmbedded, startProgram } from '../programs.ts'
import { expectExactlyOnce } from './invariants.ts'
import { acknowledges, startLoad } from './load.ts'
import { noteFault } from './table.ts'

const KILLS = 3
/** About 200 reports a second. */
const LOAD = { concurrency: 20, pauseMs: 90 }

const directory = directoryForEachTest()

test('a backup under load has all reports acknowledged before; a killed backup is not restorable', async () => {
  const running = await startEmbedded(path('data'))
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(running.output())?.[0])
  const password = /with the password +(\S+)/.exec(running.output())?.[1] ?? ''
  const load = startLoad({ urls: [running.ingestUrl], key, ...LOAD })
  await acknowledges(load, 600)
  const call = await signedIn(running.adminUrl, password)
  const { token } = await call<{ token: string }>(201, 'POST', '/shares', {
    name: 'Ferry',
    deviceIds: [load.acknowledged[0]?.deviceId],
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    trailMinutes: 0,
  })
  await submit(running.ingestUrl, key, [{ deviceId: 'gone', latitude: 1, longitude: 2 }])
  await eventually(() => call(200, 'GET', '/devices/gone'))
  await call(202, 'DELETE', '/devices/gone')

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const backup = run('backup', `killed-${kill}`)
    const file = ['read-models-1', 'accounts', 'log'][kill % 3]
    await eventually(() => existsSync(join(path(`killed-${kill}`), `${file}.sqlite`)), {
      everyMs: 1,
    })
    backup.process.kill('SIGKILL')
    await backup.ended
    const refused = run('restore', `killed-${kill}`, 'not restored')
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('has no backup.json')
    expect(existsSync(path('not restored'))).toBe(false)
  }

  const before = [...load.acknowledged]
  const beganAt = Date.now()
  const backup = run('backup', 'whole')
  expect({ code: await backup.ended, output: backup.output() }).toMatchObject({ code: 0 })
  const tookMs = Date.now() - beganAt
  const during = load.acknowledged.length - before.length
  const system = await call<System>(200, 'GET', '/system')
  expect(Date.parse(system.lastBackupAt)).toBeGreaterThanOrEqual(beganAt - 1)
  expect(system.storage.dataBytes).toBeGreaterThan(100_000)
  expect(system.storage.freeBytes).toBeGreaterThan(0)
  await acknowledges(load, 200)
  await load.stop()
  running.process.kill('SIGKILL')
  await running.ended

  const restored = run('restore', 'whole', 'restored')
  expect({ code: await restored.ended, output: restored.output() }).toMatchObject({ code: 0 })
  const again = await startEmbedded(path('restored'))
  const { adminUrl, ingestUrl } = again
  const { sent } = load
  const outcome = await expectExactlyOnce({ adminUrl, key }, { acknowledged: before, sent })
  const callAgain = await signedIn(adminUrl, password)
  await callAgain(404, 'GET', '/devices/gone')
  const share = await fetch(`${adminUrl}/api/v1/shared`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  expect(share.status).toBe(200)

  // Devices that stored their reports resend them.
  await submit(
    ingestUrl,
    key,
    load.acknowledged.map(({ recordId: _known, ...report }) => report),
  )
  await expectExactlyOnce({ adminUrl, key }, load)
  noteFault('backup under load, killed and whole, restored', {
    kills: KILLS,
    ...outcome,
    'acknowledged meanwhile': during,
    'ms for the backup': tookMs,
  })
})

type System = {
  readonly lastBackupAt: string
  readonly storage: { readonly dataBytes: number; readonly freeBytes: number }
}

function path(name: string): string {
  return join(directory(), name)
}

function run(command: 'backup' | 'restore', folder: string, dataDir = 'data') {
  return startProgram(`commands/${command}/main`, {
    args: [path(folder)],
    env: { DATA_DIR: path(dataDir) },
  })
}

/** Makes calls of the first operator. */
async function signedIn(adminUrl: string, password: string) {
  const headers = { 'Content-Type': 'application/json', 'X-Requested-With': 'console' }
  const body = JSON.stringify({ email: 'admin@localhost', password })
  const session = await fetch(`${adminUrl}/api/v1/session`, { method: 'POST', headers, body })
  expect(session.status).toBe(200)
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';')
  return async <T>(expected: number, method: string, path: string, content?: object) => {
    const answer = await fetch(`${adminUrl}/api/v1${path}`, {
      method,
      headers: { ...headers, Cookie: cookie },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    })
    const { data, ...rest } = (await answer.json()) as { data: T }
    expect({ status: answer.status, ...rest }).toEqual(
      expect.objectContaining({ status: expected }),
    )
    return data
  }
}

async function submit(url: string, key: string, reports: readonly object[]): Promise<void> {
  for (let start = 0; start < reports.length; start += 1_000) {
    const some = reports.slice(start, start + 1_000)
    const answer = await fetch(`${url}/api/v1/gps/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reports: some }),
    })
    const { data } = (await answer.json()) as { data: { accepted: number } }
    expect(data.accepted).toBe(some.length)
  }
}
