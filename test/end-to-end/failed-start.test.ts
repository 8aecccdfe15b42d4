import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { listens, startEmbedded, startProgram } from '../programs.ts'
import { endedWithTheTests, endPrograms, type RunningProgram } from '../running-programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = directoryForEachTest()
const FREE_PORTS = { INGEST_PORT: '0', ADMIN_PORT: '0' }
/** Nothing listens on it. */
const NOBODY = { KAFKA_BROKERS: '127.0.0.1:9', MONGODB_URL: 'mongodb://127.0.0.1:9/gps' }
const isRoot = process.getuid?.() === 0

afterEach(endPrograms)

const data = (...names: string[]) => join(directory(), 'data', ...names)
const start = (env: Record<string, string> = {}, program = 'embedded/main') =>
  startProgram(program, { env: { DATA_DIR: data(), ...FREE_PORTS, ...env } })

/** The reason that a program logs for its failed start: its only line at this level. */
async function reasonOf(program: RunningProgram): Promise<string> {
  expect(await program.ended).toBe(1)
  const lines = program
    .output()
    .split('\n')
    .filter((line) => line !== '')
  const severe = lines.filter((line) => !/^\{"level":[1-4]0/.test(line))
  expect(severe).toHaveLength(1)
  const { msg, reason, ...rest } = JSON.parse(severe[0] ?? '') as Record<string, unknown>
  expect(msg).toBe('could not start')
  expect(rest).not.toHaveProperty('err')
  expect(lines.at(-1)).toBe(severe[0])
  expect(program.output()).not.toContain('\\n    at ')
  return String(reason)
}

/** Runs a program on a terminal; returns its output with the terminal's line endings. */
async function onTerminal(env: Record<string, string>) {
  const child = spawn(
    'script',
    ['-qec', `${process.execPath} scripts/run.mjs embedded/main`, '/dev/null'],
    {
      cwd: root,
      env: { PATH: process.env['PATH'], TERM: 'dumb', NO_COLOR: '1', ...FREE_PORTS, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const program = endedWithTheTests(child)
  return { code: await program.ended, output: program.output() }
}

/** Starts the service as an unprivileged user, on files of another user. */
function startUnprivileged(): RunningProgram {
  if (!isRoot) return start()
  const caps = '--bounding-set=-dac_override,-dac_read_search,-fowner'
  const child = spawn('setpriv', [caps, process.execPath, 'scripts/run.mjs', 'embedded/main'], {
    cwd: root,
    env: { PATH: process.env['PATH'], DATA_DIR: data(), ...FREE_PORTS },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return endedWithTheTests(child)
}

function takeFrom(path: string): void {
  if (isRoot) chownSync(path, 1, 1)
  else chmodSync(path, 0o400)
}

/** Data of a service that has run and stopped. */
let stopped: string

beforeAll(async () => {
  stopped = mkdtempSync(join(tmpdir(), 'gps-'))
  const running = await startEmbedded(stopped)
  running.process.kill('SIGTERM')
  await running.ended
})

afterAll(() => rmSync(stopped, { recursive: true }))

function makeData(): void {
  cpSync(stopped, data(), { recursive: true })
}

/**
 * Replaces a file of the data. Otherwise SQLite would restore it from a leftover write-ahead log.
 */
function damage(name: string, content: string): void {
  for (const ending of ['-wal', '-shm']) rmSync(data(name + ending), { force: true })
  writeFileSync(data(name), content)
}

async function takenPort(): Promise<{ port: string; free: () => void }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: String((server.address() as AddressInfo).port), free: () => void server.close() }
}

describe('on a terminal', () => {
  test('a failed start gives its reason in one line, whichever thread fails', async () => {
    makeData()
    damage('log.sqlite', 'no database')
    const damaged = await onTerminal({ DATA_DIR: data() })
    expect(damaged).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^\[[\d:]+\] FATAL \(gps\): could not start: .*log\.sqlite is damaged .*\r\n$/,
      ),
    })
    const other = join(directory(), 'other')
    const store = openSqliteStore({ directory: other, retention: { wanted: 3 } })
    await store.close()
    const refused = await onTerminal({ DATA_DIR: other })
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^\[[\d:]+\] FATAL \(gps\): could not start: .*RETENTION_DAYS.*\r\n$/,
      ),
    })
  })
})

describe('the data directory', () => {
  test('a folder that this user may not write is named, with its setting and the required owner', async () => {
    mkdirSync(data())
    takeFrom(data())
    const reason = await reasonOf(startUnprivileged())
    const user = process.getuid?.()
    expect(reason).toContain(
      `the folder ${data()} (DATA_DIR) cannot be written by the user ${user}`,
    )
    expect(reason).toContain(`chown -R ${user} ${data()}`)
    expect(reason).toContain('or set DATA_DIR to another folder')
  })

  test('a file that this user may not write is named before any other is changed', async () => {
    makeData()
    takeFrom(data('accounts.sqlite'))
    const before = readFileSync(data('log.sqlite'))
    expect(await reasonOf(startUnprivileged())).toMatch(
      /^the file .*accounts\.sqlite cannot be written by the user \d+, .*chown -R/,
    )
    expect(readFileSync(data('log.sqlite'))).toEqual(before)
  })

  test('a file instead of the folder is named, with the setting', async () => {
    writeFileSync(data(), '')
    const reason = await reasonOf(start())
    expect(reason).toBe(
      `the folder ${data()} cannot be created (${data()} is not a folder): set DATA_DIR to another one`,
    )
  })

  test('a folder that cannot be created is named, with the setting', async () => {
    const reason = await reasonOf(start({ DATA_DIR: '/proc/gps' }))
    expect(reason).toMatch(
      /^the folder \/proc\/gps cannot be created .*: set DATA_DIR to another one$/,
    )
  })
})

describe('a damaged file', () => {
  test.each([
    ['log.sqlite', /restore it from a backup \(docs\/operations\.md/],
    ['accounts.sqlite', /restore it from a backup \(docs\/operations\.md/],
    ['read-models-1.sqlite', /remove this file, and it is rebuilt from the log/],
    ['rejections.sqlite', /remove this file; only rejected reports of the last 7 days are lost/],
    ['in-use.lock', /remove it, it holds no data/],
  ])('%s is named, with advice about it', async (name, remedy) => {
    makeData()
    damage(name, 'no database, but longer than a header '.repeat(200))
    const reason = await reasonOf(start())
    expect(reason).toContain(`${data(name)} is damaged (`)
    expect(reason).toMatch(remedy)
  })

  test('a truncated file is reported as damaged', async () => {
    makeData()
    truncateSync(data('accounts.sqlite'), 8_192)
    expect(await reasonOf(start())).toContain(`${data('accounts.sqlite')} is damaged (`)
  })

  test('removed read models are rebuilt', async () => {
    makeData()
    writeFileSync(data('read-models-1.sqlite'), '')
    const running = start()
    await listens(running, 'admin API')
  })
})

test('a file of a newer version is detected before any other is migrated', async () => {
  makeData()
  const withVersion = (name: string, version: number) => {
    const file = new DatabaseSync(data(name))
    file.exec(`PRAGMA user_version = ${version}; PRAGMA wal_checkpoint(TRUNCATE)`)
    file.close()
  }
  withVersion('rejections.sqlite', 99)
  withVersion('log.sqlite', 0)
  const before = readFileSync(data('log.sqlite'))
  expect(await reasonOf(start())).toMatch(/rejections\.sqlite has schema version 99/)
  expect(readFileSync(data('log.sqlite'))).toEqual(before)
})

describe('a port in use is named with its setting', () => {
  test.each([
    ['embedded/main', 'INGEST_PORT'],
    ['embedded/main', 'ADMIN_PORT'],
    ['embedded/main', 'METRICS_PORT'],
    // The other services on Kafka listen with the same code.
    ['projector/main', 'PROJECTOR_PORT'],
  ])('%s: %s', async (program, variable) => {
    const taken = await takenPort()
    const { port } = taken
    const env = program === 'embedded/main' ? {} : NOBODY
    const reason = await reasonOf(start({ ...env, [variable]: port }, program))
    taken.free()
    expect(reason).toBe(
      `port ${port} of 127.0.0.1 is in use: stop the program that uses it, or set ${variable} to another one`,
    )
  })
})

test('a HOST whose name no DNS server resolves is named', async () => {
  const reason = await reasonOf(start({ HOST: 'no-such-name.invalid' }))
  expect(reason).toMatch(
    /^the name no-such-name\.invalid (has no address|cannot be resolved, because no DNS server answers): set HOST to/,
  )
})

test('a HOST that this machine does not have is named, and a misspelt variable with the one that was meant', async () => {
  const program = start({ INGEST_PROT: '9', HOST: '192.0.2.1' })
  expect(await reasonOf(program)).toMatch(
    /^this machine has no address 192\.0\.2\.1: set HOST to one that it has/,
  )
  const warning = { variable: 'INGEST_PROT', msg: 'an environment variable is ignored' }
  const lines = program.output().split('\n').filter(Boolean)
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({
      ...warning,
      reason: 'no variable has this name: did you mean INGEST_PORT?',
    }),
  )
})

describe('the settings', () => {
  test('npm start with KAFKA_BROKERS names the commands that run the services on Kafka', async () => {
    const reason = await reasonOf(start(NOBODY))
    for (const service of ['ingest-api', 'projector', 'admin-api', 'deliverer']) {
      expect(reason).toContain(`start:${service}`)
    }
    expect(reason).toMatch(
      /^this program works on its own files and uses no KAFKA_BROKERS and MONGODB_URL: unset them, or /,
    )
  })

  test('a service without Kafka and MongoDB names the variables and npm start', async () => {
    const reason = await reasonOf(start({}, 'projector/main'))
    expect(reason).toMatch(/set KAFKA_BROKERS and MONGODB_URL, .*npm start$/)
  })

  test('all invalid variables are named together, each with what it must be', async () => {
    const program = start({
      INGEST_PORT: 'http',
      RETENTION_DAYS: 'soon',
      KAFKA_BROKERS: 'kafka',
      CONSOLE_PUBLIC_URL: 'fleet',
      ADMIN_EMAIL: 'ana@example.org',
    })
    expect(await program.ended).toBe(1)
    for (const variable of [
      'INGEST_PORT',
      'RETENTION_DAYS',
      'KAFKA_BROKERS',
      'CONSOLE_PUBLIC_URL',
    ]) {
      expect(program.output()).toContain(`  ${variable} must be `)
    }
    expect(program.output()).toContain('set ADMIN_PASSWORD too')
    expect(program.output()).not.toContain('    at ')
  })
})

describe('the spool', () => {
  const spool = () => join(directory(), 'spool')
  const startIngest = () => start({ ...NOBODY, SPOOL_DIR: spool() }, 'ingest-api/main')

  test('a file instead of the spool folder is named, with the setting', async () => {
    writeFileSync(spool(), '')
    expect(await reasonOf(startIngest())).toMatch(
      /is not a folder\): set SPOOL_DIR to another one$/,
    )
  })

  test('a damaged file is not deleted: it may hold acknowledged reports', async () => {
    mkdirSync(spool())
    writeFileSync(join(spool(), 'spool.sqlite'), 'no database '.repeat(1_000))
    const reason = await reasonOf(startIngest())
    expect(reason).toMatch(/spool\.sqlite is damaged .*: move it away, start again, and keep it/)
  })
})

test('a clock earlier than this version is reported, and the service starts', async () => {
  const wrong = 'const { now } = Date; const back = now(); Date.now = () => now() - back'
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(wrong)}`
  const running = start({ NODE_OPTIONS })
  await listens(running, 'ingest API')
  expect(running.output()).toMatch(
    /"level":40.*"reason":"it says 1970-01-01T.*: set it \(timedatectl set-ntp true\)/,
  )
})

test('an unsupported Node version is reported first, with the supported versions', async () => {
  const older = "Object.defineProperty(process.versions, 'node', { value: '18.20.8' })"
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(older)}`
  const program = start({ NODE_OPTIONS })
  expect(await program.ended).toBe(1)
  expect(program.output()).toBe(
    'Node 18.20.8 cannot run this: install Node 24 or another of ^20.19.0 || ^22.13.0 || >=24\n',
  )
})
