import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../..', import.meta.url))
const script = join(root, 'scripts/test.mjs')

test.each([
  ['', 1],
  ['--maxWorkers=2', 2],
])('npm test -- console %s tests this many files at a time: %i', async (option, maxWorkers) => {
  const args = option === '' ? [] : [option]
  const { stdout } = await promisify(execFile)('node', [script, 'console', '--showConfig', ...args])
  const { globalConfig } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    globalConfig: { maxWorkers: number }
  }
  expect(globalConfig.maxWorkers).toBe(maxWorkers)
})

test('.ci/run names no test that was moved away', async () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8')
  const lists = text.match(/^(same|differs)=\([^)]*\)/gm) ?? []
  const printed = await promisify(execFile)('bash', [
    '-c',
    `${lists.join('\n')}\nprintf '%s\\n' "\${same[@]}" "\${differs[@]}"`,
  ])
  const paths = printed.stdout.trim().split('\n')
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
