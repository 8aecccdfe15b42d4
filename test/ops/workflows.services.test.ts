import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  test('actionlint accepts them', async () => {
    expect(files.length).toBeGreaterThan(2)
    await run(actionlint, files)
  })

  test('actionlint refuses an input that an action does not have', async () => {
    const file = join(await ownDirectory(), 'checks.yml')
    const text = readFileSync(join(folder, 'checks.yml'), 'utf8')
    writeFileSync(file, text.replace('node-version-file:', 'node-versions-file:'))
    await expect(run(actionlint, [file])).rejects.toMatchObject({
      stdout: expect.stringContaining('node-versions-file'),
    })
  })

  test('they call only scripts of the project that .ci/run calls too', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const ci = readFileSync(join(root, '.ci/run'), 'utf8')
    const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const called = [...texts.matchAll(/- run: (?:sudo )?(.+)/g)].map((match) => match[1] ?? '')
    const suites = /suite: \[(.*)\]/.exec(texts)?.[1]?.match(/[a-z]+/g) ?? []
    expect(suites).toContain('faults')
    for (const suite of suites) expect(ci).toMatch(new RegExp(`suite \\S+ ${suite}\\b`))
    for (const command of called) {
      if (command === 'npm ci' || command.includes('matrix.suite')) continue
      if (command.startsWith('.ci/')) {
        expect(existsSync(join(root, command))).toBe(true)
        expect(ci).toContain(command)
        continue
      }
      const [, script = '', path] = /^npm (?:run )?([a-z:]+)(?: -- (.+))?$/.exec(command) ?? []
      expect(scripts).toHaveProperty([script])
      const suite = path === undefined ? 'unit' : `unit ${path}`
      expect(ci).toMatch(
        script === 'test' ? new RegExp(`suite \\S+ ${suite}\\b`) : `run --silent ${script}`,
      )
    }
  })
})
