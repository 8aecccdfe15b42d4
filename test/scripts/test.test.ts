import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const script = fileURLToPath(new URL('../../scripts/test.mjs', import.meta.url))

test.each([
  ['', 1],
  ['--maxWorkers=2', 2],
])('npm run test:console -- %s tests this many files at a time: %i', async (option, maxWorkers) => {
  const args = option === '' ? [] : [option]
  const { stdout } = await promisify(execFile)('node', [script, 'console', '--showConfig', ...args])
  const { globalConfig } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    globalConfig: { maxWorkers: number }
  }
  expect(globalConfig.maxWorkers).toBe(maxWorkers)
})
