import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/workflows')
const files = readdirSync(folder).map((file) => join(folder, file))
const PINNED = /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v(\d+)\.\d+\.\d+$/

/** actionlint knows the inputs of an action by its major version. */
function byVersion(workflow: string) {
  return workflow.replaceAll(/@[0-9a-f]{40} # (v\d+)\.\d+\.\d+/g, '@$1')
}

await describeWith(['actionlint'], 'workflows of GitHub Actions', ({ actionlint }) => {
  test('actionlint accepts the workflows', async () => {
    expect(files.length).toBeGreaterThan(2)
    const directory = await ownDirectory()
    const copies = files.map((file) => join(directory, basename(file)))
    for (const [n, file] of files.entries()) {
      writeFileSync(copies[n] ?? '', byVersion(readFileSync(file, 'utf8')))
    }
    await run(actionlint, [...files, ...copies])
  })

  test('actionlint rejects an input that an action does not have', async () => {
    const file = join(await ownDirectory(), 'checks.yml')
    const text = byVersion(readFileSync(join(folder, 'checks.yml'), 'utf8'))
    writeFileSync(file, text.replace('node-version-file:', 'node-versions-file:'))
    await expect(run(actionlint, [file])).rejects.toMatchObject({
      stdout: expect.stringContaining('node-versions-file'),
    })
  })

  test('each action is pinned to a commit, with its version beside it', () => {
    const uses = files.flatMap((file) => readFileSync(file, 'utf8').match(/uses: .+/g) ?? [])
    expect(uses.length).toBeGreaterThan(8)
    for (const line of uses) expect(line).toMatch(PINNED)
  })

  test('workflows run .ci/run, commands that it runs too, or those of a release', () => {
    const ci = ['.ci/run', 'docs/releasing.md']
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n')
    const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const called = [...texts.matchAll(/- run: (?:sudo )?(.+)/g)].map((match) => match[1] ?? '')
    expect(called).toEqual(expect.arrayContaining(['.ci/run', '.ci/run nightly']))
    const others = called.filter((command) => !command.startsWith('.ci/run'))
    for (const command of others) {
      expect(ci).toContain(command.replace(/^npm test -- /, 'suite model unit '))
    }
  })
})
