import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { acknowledged, standInService } from './stand-in-service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = directoryForEachTest()
test('the packed npm package has the types its README uses, no dependencies, and runs on its own', async () => {
  const installed = join(directory(), 'node_modules', 'gps-position-client')
  mkdirSync(installed, { recursive: true })
  run(process.execPath, ['scripts/pack-client.mjs', directory()], root)
  const [packed = ''] = readdirSync(directory()).filter((name) => name.endsWith('.tgz'))
  run('tar', ['-xzf', packed, '-C', installed, '--strip-components', '1'], directory())
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies?: unknown
  }
  expect(dependencies).toBeUndefined()
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])

  const service = await standInService(() => acknowledged('R1'))
  writeFileSync(
    join(directory(), 'send.mts'),
    `import { gpsClient, type Outcome } from 'gps-position-client'
import { openQueue } from 'gps-position-client/queue'
const client = gpsClient({ url: '${service.url.href}', key: 'k' })
const outcome: Outcome = await client.submit({ deviceId: 'a', latitude: 1, longitude: 2 })
const queue = await openQueue({ url: '${service.url.href}', key: 'k', file: 'queue', onRefused: () => {} })
await queue.close()
console.log(outcome.kind, queue.size)
`,
  )
  const readme = readFileSync(join(installed, 'README.md'), 'utf8')
  const shown = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => {
    writeFileSync(join(directory(), `shown-${index}.mts`), code)
    return `shown-${index}.mts`
  })
  expect(shown).not.toEqual([])
  const types = ['--module', 'NodeNext', '--target', 'ES2023', '--strict', '--skipLibCheck']
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const roots = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node']
  run(process.execPath, [tsc, ...types, ...roots, 'send.mts', ...shown], directory())
  // Must not block: the service runs in this process.
  const { stdout } = await promisify(execFile)(process.execPath, ['send.mjs'], {
    cwd: directory(),
  })
  expect(stdout).toBe('accepted 0\n')
})

function run(program: string, options: readonly string[], cwd: string): void {
  try {
    execFileSync(program, options, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${options.join(' ')}: ${stdout}${stderr}`, { cause: error })
  }
}
