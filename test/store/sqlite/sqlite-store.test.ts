import { expect, jest, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DependencyError } from '../../../runtime/errors.ts'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { account, apiKey, batchOf, operator } from '../../contracts/store-samples.ts'
import { storeContract } from '../../contracts/store-contract.ts'
// Builds the code that the processes below run.
import '../../programs.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { statementsStayFast } from '../../runtime/sqlite/statements-stay-fast.ts'
import { positionReported } from '../../samples.ts'
import { openTemporaryStore } from './open-sqlite-store.ts'
import { SLOW_STATEMENTS } from './slow-statements.ts'

statementsStayFast(() => storeContract('SQLite', openTemporaryStore), SLOW_STATEMENTS)

const directory = directoryForEachTest()

test('data that cannot be rebuilt are in separate files from the read models', async () => {
  const store = openSqliteStore({ directory: directory() })
  const made = account()
  await store.createAccount(made)
  await store.createKey(apiKey({ accountId: made.id }), Buffer.alloc(32, 1))
  const event = positionReported({ accountId: made.id })
  await store.project(batchOf({ kind: 'position', origin: { partition: 0, offset: 0 }, event }))
  await store.close()
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(directory(), `read-models-1.sqlite${end}`), { force: true })
  }
  const again = openSqliteStore({ directory: directory() })
  expect(await again.checkpoint()).toEqual({})
  expect(await again.findGrant(Buffer.alloc(32, 1))).toBeDefined()
  await again.close()
})

test.each(['accounts', 'rejections', 'read-models-1'])(
  'the store does not open if a newer program has changed %s',
  async (name) => {
    await openSqliteStore({ directory: directory() }).close()
    const raw = new DatabaseSync(join(directory(), `${name}.sqlite`))
    raw.exec('PRAGMA user_version = 1000')
    raw.close()
    expect(() => openSqliteStore({ directory: directory() })).toThrow(
      /schema version 1000, .* another version of the program wrote it/,
    )
  },
)

test('read models with other tables are rejected, and rebuilt once their file is removed', async () => {
  await openSqliteStore({ directory: directory() }).close()
  const file = join(directory(), 'read-models-1.sqlite')
  const raw = new DatabaseSync(file)
  raw.exec('ALTER TABLE erasures DROP COLUMN erased_at')
  raw.close()
  expect(() => openSqliteStore({ directory: directory() })).toThrow(
    `${file} has schema version ${READ_MODELS_SCHEMA.length}, but not its table erasures: another version of the program ` +
      'wrote it; remove this file, and it is rebuilt from the log',
  )
  rmSync(file)
  const again = openSqliteStore({ directory: directory() })
  expect(await again.checkpoint()).toEqual({})
  await again.close()
})

test('the old read models are read until the new ones have caught up', async () => {
  fakeTimers('performance')
  const store = openSqliteStore({ directory: directory() })
  const event = positionReported()
  const batch = batchOf({ kind: 'position', origin: { partition: 0, offset: 1 }, event })
  await store.project(batch)
  const rebuild = await store.beginRebuild()
  await rebuild?.switchOver()
  const find = () => store.findPosition(event)
  for (let ms = 0; ms < 1_000; ms += 100) {
    expect(await find()).toBeDefined()
    jest.advanceTimersByTime(100)
  }
  const built = await store.openGeneration(2)
  await built.project(batch)
  await built.close()
  expect(await find()).toBeDefined()
  await rebuild?.end()
  expect(await find()).toBeDefined()
  await store.close()
  jest.useRealTimers()
})

test('after a rebuild that failed at its start or end, others can start', async () => {
  const store = openSqliteStore({ directory: directory() })
  const raw = new DatabaseSync(join(directory(), 'accounts.sqlite'))
  const failing = async (work: () => Promise<unknown>) => {
    raw.exec('ALTER TABLE read_models RENAME TO elsewhere')
    await expect(work()).rejects.toThrow('no such table')
    raw.exec('ALTER TABLE elsewhere RENAME TO read_models')
  }
  await failing(() => store.beginRebuild())
  const rebuild = await store.beginRebuild()
  expect(rebuild).toBeDefined()
  await failing(async () => rebuild?.end())
  await (await store.beginRebuild())!.end()
  raw.close()
  await store.close()
})

test('the store reports that its directory cannot be created', () => {
  const file = join(directory(), 'a file')
  writeFileSync(file, '')
  const open = () => openSqliteStore({ directory: join(file, 'data') })
  expect(open).toThrow(DependencyError)
  expect(open).toThrow(/^the store's directory .*data cannot be created$/)
})

test('the store is created once and shared by processes that start concurrently on an empty directory', async () => {
  const processes = Array.from({ length: 4 }, startOpener)
  try {
    await Promise.all(processes.map(({ answer }) => answer()))
    for (let round = 0; round < 10; round += 1) {
      const folder = join(directory(), `shared ${round}`)
      const made = await Promise.all(processes.map(({ ask }) => ask(folder)))
      expect([...made].sort()).toEqual(['false', 'false', 'false', 'true'])
    }
  } finally {
    for (const { process } of processes) process.kill('SIGKILL')
  }
})

/** A process that opens the given directories, and reports whether it made the first operator. */
function startOpener() {
  const compiled = new URL('../../../dist/store/sqlite/sqlite-store.js', import.meta.url).href
  const first = account()
  const attempt = { account: first, operator: operator({ accountId: first.id }) }
  const process: ChildProcess = spawn(
    globalThis.process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createInterface } from 'node:readline'
       import { openSqliteStore } from ${JSON.stringify(compiled)}
       console.log('started')
       for await (const directory of createInterface({ input: process.stdin })) {
         try {
           const store = openSqliteStore({ directory })
           console.log(await store.createFirstOperator(${JSON.stringify(attempt)}))
           await store.close()
         } catch (error) {
           console.log(error.message)
         }
       }`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  if (process.stdout === null) throw new Error('the process has no output to read')
  const lines = createInterface({ input: process.stdout })
  const answer = async () => ((await once(lines, 'line')) as [string])[0]
  return {
    process,
    answer,
    ask: (folder: string) => {
      const answered = answer()
      process.stdin?.write(`${folder}\n`)
      return answered
    },
  }
}
