import { execFile } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { createKey, operatorEnv, submitTo } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { describeWith } from '../services/describe-with.ts'

const OPERATIONS = new URL('../../docs/operations.md', import.meta.url)

await describeWith(['sqlite3'], 'the backup that docs/operations.md describes', () => {
  const embedded = embeddedSuite()

  test.each(['whole', 'without read models'])(
    'taken while the service runs and restored (%s), it has all that was there',
    async (how) => {
      const running = await embedded.start(operatorEnv(), join(embedded.path, 'data'))
      const key = await createKey(running.adminUrl)
      const before = adminReader({ adminUrl: running.adminUrl, key })
      expect(await report(running.ingestUrl, key, 'tracker-1')).toBe(200)
      const device = await eventually(() => before.device('tracker-1'))
      await promisify(execFile)('sh', ['-e', '-c', backupCommands()], { cwd: embedded.path })
      expect(await report(running.ingestUrl, key, 'too-late')).toBe(200)
      running.process.kill('SIGKILL')
      await running.ended

      const restored = join(embedded.path, 'restored')
      cpSync(join(embedded.path, 'backup'), restored, { recursive: true })
      if (how !== 'whole') rmSync(join(restored, 'read-models-1.sqlite'))
      const again = await embedded.start(operatorEnv(), restored)
      const after = adminReader({ adminUrl: again.adminUrl, key })
      expect(await eventually(() => after.device('tracker-1'))).toEqual(device)
      expect(await report(again.ingestUrl, key, 'tracker-2')).toBe(200)
      await eventually(() => after.device('tracker-2'))
      await expect(after.device('too-late')).rejects.toThrow()
    },
    120_000,
  )
})

/** The commands as documented, ready to be pasted. */
function backupCommands(): string {
  const text = readFileSync(OPERATIONS, 'utf8')
  const block = /```sh\n(mkdir backup\n[^`]*)```/.exec(text)?.[1]
  if (block === undefined) throw new Error('docs/operations.md has no commands for a backup')
  return block
}

async function report(ingestUrl: string, key: string, deviceId: string): Promise<number> {
  return (await submitTo(ingestUrl, key, { deviceId, latitude: 52.5, longitude: 13.4 })).status
}
