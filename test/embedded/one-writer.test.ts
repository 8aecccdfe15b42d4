import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { operatorEnv, signIn, submitTo } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'

const DRIVER = new URL('../../node_modules/@photostructure/sqlite/dist/index.mjs', import.meta.url)
const FULL = 2
const embedded = embeddedSuite()

test('only the main thread writes the log, each commit waits for the disk, and a key revoked in the worker is rejected', async () => {
  const notes = join(embedded.path, 'notes')
  const running = await embedded.start(
    {
      ...operatorEnv(),
      NODE_OPTIONS: `--import ${dataUrl(watching(notes))}`,
    },
    join(embedded.path, 'data'),
  )
  const operator = await signIn(running.adminUrl)
  const { id, key } = await operator.createKey()
  expect(await submit(running.ingestUrl, key)).toBe(200)
  expect(await submit(running.ingestUrl, key, { latitude: 91 })).toBe(400)
  await eventually(() => operator.call('GET', '/devices/tracker-1'))
  await eventually(async () => {
    const kept = await operator.call<{ items: unknown[] }>('GET', '/rejections')
    return kept.items.length > 0
  })
  await operator.eraseDevice('tracker-1')
  await operator.revokeKey(id)
  await eventually(async () => (await submit(running.ingestUrl, key)) === 401)
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)

  const seen = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Note)
  const ofLog = seen.filter(({ file }) => basename(file ?? '') === 'log.sqlite')
  const opened = ofLog.filter(({ event }) => event === 'opened')
  expect(opened.map(({ thread, writable }) => ({ thread, writable }))).toEqual([
    { thread: 'main', writable: true },
    { thread: 'worker', writable: false },
  ])
  const commits = ofLog.filter(({ event }) => event === 'commit')
  expect(commits.length).toBeGreaterThanOrEqual(3)
  expect(new Set(commits.map(({ thread, synchronous }) => `${thread} ${synchronous}`))).toEqual(
    new Set([`main ${FULL}`]),
  )
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux(
  'where processors are few, the main thread and what works for it go before the worker',
  async () => {
    const { process: running } = await embedded.start()
    const own = getPriority(running.pid)
    const tasks = `/proc/${running.pid}/task`
    const priorities = readdirSync(tasks).map((task) => getPriority(Number(task)))
    const least = 19
    // If the tests run at the lowest priority, so do all threads.
    const others = own === least ? [] : [Math.min(least, own + 10)]
    expect(priorities.filter((priority) => priority !== own)).toEqual(others)
  },
)

type Note = {
  readonly thread: 'main' | 'worker'
  /** Null: in memory. */
  readonly file: string | null
  readonly event: 'opened' | 'commit'
  readonly writable?: boolean
  readonly synchronous?: number
}

async function submit(ingestUrl: string, key: string, changes: object = {}): Promise<number> {
  const report = { deviceId: 'tracker-1', latitude: 52.5, longitude: 13.4, ...changes }
  return (await submitTo(ingestUrl, key, report)).status
}

/**
 * A module that makes the driver record, for every database, which thread opens it, whether it is
 * writable, and what each commit waits for.
 */
function watching(notes: string): string {
  const driver = `import { appendFileSync } from 'node:fs'
    import { isMainThread } from 'node:worker_threads'
    import { DatabaseSync as Driver } from ${JSON.stringify(DRIVER.href)}
    export class DatabaseSync extends Driver {
      constructor(...given) {
        super(...given)
        this.note({ event: 'opened', writable: this.canWrite() })
      }
      note(more) {
        const thread = isMainThread ? 'main' : 'worker'
        const line = JSON.stringify({ thread, file: this.location(), ...more })
        appendFileSync(${JSON.stringify(notes)}, line + '\\n')
      }
      pragma(name) {
        return Object.values(super.prepare('PRAGMA ' + name).get())[0]
      }
      canWrite() {
        try {
          super.exec('BEGIN; PRAGMA user_version = ' + this.pragma('user_version'))
          return true
        } catch {
          return false
        } finally {
          super.exec('ROLLBACK')
        }
      }
      exec(sql) {
        if (sql === 'COMMIT') this.note({ event: 'commit', synchronous: this.pragma('synchronous') })
        super.exec(sql)
      }
    }`
  const hook = `export const resolve = (specifier, context, next) =>
    specifier === '@photostructure/sqlite'
      ? { url: ${JSON.stringify(dataUrl(driver))}, shortCircuit: true }
      : next(specifier, context)`
  return `import { register } from 'node:module'
    register(${JSON.stringify(dataUrl(hook))})`
}

function dataUrl(module: string): string {
  return `data:text/javascript,${encodeURIComponent(module)}`
}
