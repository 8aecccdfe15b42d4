import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../..', import.meta.url))
const script = join(root, 'scripts/test.mjs')

test.each([
  ['', 1],
  ['--maxWorkers=2', 2],
])('npm test -- console %s runs this many files at a time: %i', async (option, maxWorkers) => {
  const args = option === '' ? [] : [option]
  const { stdout } = await promisify(execFile)('node', [script, 'console', '--showConfig', ...args])
  const { globalConfig } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    globalConfig: { maxWorkers: number }
  }
  expect(globalConfig.maxWorkers).toBe(maxWorkers)
})

test.each(['fast', 'nightly more'])(
  '.ci/run %s prints its usage and runs nothing',
  async (given) => {
    const run = promisify(execFile)(join(root, '.ci/run'), given.split(' '))
    await expect(run).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^\.ci\/run +what .*\n\.ci\/run nightly +also /),
    })
  },
)

test('.ci/run finds the tests that run on every Node, and each of them is a unit test', async () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8')
  const find = /<\((grep .*)\)$/m.exec(text)?.[1] ?? ''
  const found = await promisify(execFile)('bash', ['-c', find], { cwd: root })
  const paths = found.stdout.trim().split('\n')
  expect(paths).toContain('test/runtime/sqlite/database.test.ts')
  const { stdout } = await promisify(execFile)('node', [script, '--listTests'])
  const units = stdout.trim().split('\n')
  expect(paths.filter((path) => !units.includes(join(root, path)))).toEqual([])
})
