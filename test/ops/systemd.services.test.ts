import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'ops/systemd')

await describeWith(['systemdAnalyze'], 'units of systemd', ({ systemdAnalyze }) => {
  /**
   * @throws with systemd's warnings. Programs are resolved in this copy of the project, as if it
   * were /opt/gps.
   */
  async function verify(change: (text: string) => string = (text) => text): Promise<void> {
    const copies = await ownDirectory()
    const names = readdirSync(folder)
    for (const name of names) {
      const text = readFileSync(join(folder, name), 'utf8').replaceAll(
        '/usr/bin/rsync',
        '/bin/true',
      )
      writeFileSync(join(copies, name), change(text.replaceAll('/opt/gps/', root)))
    }
    const { stderr } = await run(
      systemdAnalyze,
      ['verify', '--man=no', '--recursive-errors=one', ...names],
      { cwd: copies },
    )
    if (stderr.includes(copies)) throw new Error(stderr)
  }

  test('systemd accepts the units, and their programs exist', async () => {
    await verify()
  })

  test.each([
    ['an unknown setting', 'Restart=', 'Restarts='],
    ['a program that does not exist', 'scripts/start.sh', 'scripts/begin.sh'],
  ])('%s would be detected', async (_, right, wrong) => {
    await expect(verify((text) => text.replaceAll(right, wrong))).rejects.toThrow()
  })
})
