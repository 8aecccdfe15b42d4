import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openData } from '../../commands/open.ts'
import { closeAfterwards } from '../closing.ts'
import { ownDirectory } from '../own-directory.ts'
import '../programs.ts'
import { endedWithTheTests, endPrograms } from '../running-programs.ts'

/** Runs one of our programs with the shell's redirections. */
async function run(command: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-c', `exec ${process.execPath} dist/commands/${command}`], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const program = endedWithTheTests(child)
  return { code: await program.ended, output: program.output() }
}

test('a command whose standard output fails finishes its work, reports that in one line and fails', async () => {
  closeAfterwards(endPrograms)
  const directory = await ownDirectory()
  const DATA_DIR = join(directory, 'data')
  const { store, eventLog } = openData(DATA_DIR)
  await eventLog.close()
  await store.close()
  const lost = { code: 1, output: expect.stringMatching(/^Standard output cannot .*ENOSPC.*\n$/) }
  expect(await run('import/main.js --help > /dev/full')).toEqual(lost)
  expect(await run('dead-letters/main.js list > /dev/full', { DATA_DIR })).toEqual(lost)
  const backup = join(directory, 'backup')
  const backedUp = await run(`backup/main.js ${backup} > /dev/full`, { DATA_DIR })
  expect(backedUp).toEqual({ code: 1, output: expect.stringContaining('Standard output cannot') })
  const restored = await run(`restore/main.js ${backup} 2> /dev/full`, {
    DATA_DIR: join(directory, 'restored'),
  })
  expect(restored).toEqual({ code: 0, output: expect.stringContaining('start the service') })
})
