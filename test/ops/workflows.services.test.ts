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
const folder = join(root, '.github/workflows')
const files = readdirSync(folder).map((file) => join(folder, file))

await describeWith(['actionlint'], 'workflows of GitHub Actions', ({ actionlint }) => {
  test('actionlint accepts the workflows', async () => {
    expect(files.length).toBeGreaterThan(2)
    await run(actionlint, files)
  })

  test('actionlint rejects an input that an action does not have', async () => {
    const file = join(await ownDirectory(), 'checks.yml')
    const text = readFileSync(join(folder, 'checks.yml'), 'utf8')
    writeFileSync(file, text.replace('node-version-file:', 'node-versions-file:'))
    await expect(run(actionlint, [file])).rejects.toMatchObject({
      stdout: expect.stringContaining('node-versions-file'),
    })
  })

  test('workflows run .ci/run, or commands that it runs too', () => {
    const ci = readFileSync(join(root, '.ci/run'), 'utf8')
    const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const called = [...texts.matchAll(/- run: (?:sudo )?(.+)/g)].map((match) => match[1] ?? '')
    expect(called).toEqual(expect.arrayContaining(['.ci/run', '.ci/run nightly']))
    const others = called.filter((command) => !command.startsWith('.ci/run'))
    for (const command of others) {
      expect(ci).toContain(command.replace(/^npm test -- /, 'suite model unit '))
    }
  })
})
