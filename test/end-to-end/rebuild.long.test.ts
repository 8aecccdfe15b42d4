import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { eventually } from '../eventually.ts'
import { startEmbedded, startProgram } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { positionReported } from '../samples.ts'
import { rebuildStories } from './rebuild-stories.ts'

const EVENTS = 60_000
const unlimited = { RATE_LIMIT_DEVICE: 'off', RATE_LIMIT_KEY: 'off', RATE_LIMIT_AUTH: 'off' }

describe('npm run rebuild while npm start runs', () => {
  const start = async () => {
    const directory = await ownDirectory()
    const running = await startEmbedded(directory, unlimited)
    return {
      ...running,
      key: await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(running.output())?.[0]),
      rebuild: (...args: string[]) =>
        startProgram('commands/rebuild/main', { args, env: { DATA_DIR: directory } }),
    }
  }

  rebuildStories(start, { concurrency: 10 })
})

describe('npm run rebuild', () => {
  let directory: string

  beforeAll(async () => {
    directory = await ownDirectory()
    const eventLog = openSqliteEventLog({
      file: join(directory, 'log.sqlite'),
      clock: { now: () => Date.now() },
    })
    for (let n = 0; n < EVENTS; n += 500) {
      await eventLog.append(
        Array.from({ length: 500 }, (_, k) => positionReported({ deviceId: `tracker-${k % 50}` })),
      )
    }
    await eventLog.close()
  })

  function rebuild(...args: string[]) {
    return startProgram('commands/rebuild/main', { args, env: { DATA_DIR: directory } })
  }

  function generations() {
    return readdirSync(directory).filter((name) => /^read-models-\d+\.sqlite$/.test(name))
  }

  test('killed halfway, it leaves the old read models in use and can be restarted', async () => {
    const killed = rebuild()
    await eventually(() => existsSync(join(directory, 'read-models-2.sqlite')), {
      withinMs: 60_000,
    })
    await eventually(async () => {
      const store = openSqliteStore({ directory: directory })
      const built = await store.openGeneration(2)
      const { 0: done = 0 } = await built.checkpoint()
      await built.close()
      await store.close()
      return done > 1_000
    })
    killed.process.kill('SIGKILL')
    await killed.ended
    const store = openSqliteStore({ directory: directory })
    expect(await store.currentGeneration()).toBe(1)
    await store.close()
    expect(generations()).toContain('read-models-2.sqlite')

    const again = rebuild()
    expect([await again.ended, again.output()]).toEqual([
      0,
      expect.stringContaining('Generation 3 is in use'),
    ])
    expect(again.output()).toContain(`building generation 3: 0 of 60,000 events (0 %)`)
    expect(again.output()).toContain(`building generation 3: 60,000 of 60,000 events (100 %)`)
    expect(generations()).toEqual(['read-models-3.sqlite'])
  })

  test('interrupted, it says that nothing has changed', async () => {
    const stopped = rebuild()
    await eventually(() => stopped.output().includes('building generation 4'), { withinMs: 60_000 })
    stopped.process.kill('SIGINT')
    expect(await stopped.ended).toBe(1)
    expect(stopped.output()).toContain('The old read models stay in use')
    expect(generations()).toEqual(['read-models-3.sqlite'])
  })

  test('a concurrent second rebuild is rejected', async () => {
    const first = rebuild()
    await eventually(() => first.output().includes('building generation'), { withinMs: 60_000 })
    const second = rebuild()
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('Another rebuild is in progress')
    first.process.kill('SIGTERM')
    await first.ended
  })

  test.each([
    [['--help'], 0, 'Usage: npm run rebuild'],
    [['--froce'], 2, "Unknown option '--froce': --help lists the options"],
  ])('a rebuild with %j ends with %d', async (args, code, text) => {
    const program = rebuild(...args)
    expect(await program.ended).toBe(code)
    expect(program.output()).toContain(text)
  })

  test('a rebuild creates no data in an empty directory', async () => {
    const elsewhere = join(directory, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'a note'), '')
    const program = startProgram('commands/rebuild/main', { env: { DATA_DIR: elsewhere } })
    expect(await program.ended).toBe(1)
    expect(program.output()).toContain('there is no event log in')
    expect(readdirSync(elsewhere)).toEqual(['a note'])
  })
})
