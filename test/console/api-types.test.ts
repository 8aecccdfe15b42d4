import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the console is checked against the API as it is: npm run console:types', async () => {
  const { stdout } = await promisify(execFile)(
    'node',
    ['--import', './bench/typescript.mjs', 'scripts/api-types.ts', '--print'],
    { cwd: root, maxBuffer: 16 * 1024 * 1024, env: { PATH: process.env['PATH'] } },
  )
  const kept = readFileSync(`${root}/console/api/schema.ts`, 'utf8')
  expect(kept === stdout).toBe(true)
})
