import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { operatorEnv, signIn } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { contentsOf } from '../commands/backup/data-to-back-up.ts'

/** More than the 10 s after which every service reports again. */
const RESTS_MS = 11_000
const MOST_WAKE_UPS_A_SECOND = 60
const SERVICES = 4

const embedded = embeddedSuite()
const onLinux = process.platform === 'linux' ? test : test.skip

onLinux(
  'without devices the service writes nothing to its files while all its parts report again, and mostly sleeps',
  async () => {
    const { process: running, adminUrl } = await embedded.start(operatorEnv())
    const operator = await signIn(adminUrl)
    const reports = async () => {
      const { instances } = await operator.call<{ instances: { reportedAt: string }[] }>(
        'GET',
        '/system',
      )
      return instances.map(({ reportedAt }) => reportedAt).sort()
    }
    await eventually(async () => (await reports()).length === SERVICES)
    const first = await reports()
    const before = { files: durable(embedded.path), wakeUps: wakeUps(running.pid) }
    await wait(RESTS_MS)
    const after = { files: durable(embedded.path), wakeUps: wakeUps(running.pid) }
    const changed = Object.keys(after.files).filter(
      (name) => after.files[name] !== before.files[name],
    )
    expect(Object.keys(after.files)).toEqual(
      expect.arrayContaining(['log.sqlite-wal', 'accounts.sqlite-wal']),
    )
    expect(changed).toEqual([])
    expect(((after.wakeUps - before.wakeUps) / RESTS_MS) * 1_000).toBeLessThan(
      MOST_WAKE_UPS_A_SECOND,
    )
    const again = await reports()
    expect(again).toHaveLength(SERVICES)
    expect((again[0] ?? '') > (first.at(-1) ?? '')).toBe(true)
  },
  60_000,
)

/** Without the memory that SQLite's readers and writers share. */
function durable(folder: string): Record<string, string> {
  const files = Object.entries(contentsOf(folder) ?? {})
  return Object.fromEntries(files.filter(([name]) => !name.endsWith('-shm')))
}

/** How often the process's threads have gone to sleep so far. */
function wakeUps(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks)
    .map((task) => readFileSync(`${tasks}/${task}/status`, 'utf8'))
    .map((status) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]))
    .reduce((sum, one) => sum + one, 0)
}
