/** @node all */
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** The words of the command with which the script runs a program. */
async function started(...args: string[]): Promise<string[]> {
  const folder = await ownDirectory()
  const stub = join(folder, 'node')
  // The first call reads package.json; the second would run the program.
  writeFileSync(
    stub,
    `#!/bin/sh\n[ "$1" = -p ] && exec ${process.execPath} "$@"\nprintf '%s\\n' "$@"\n`,
  )
  chmodSync(stub, 0o755)
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  const output = execFileSync(join(root, 'scripts/start.sh'), args, { env, encoding: 'utf8' })
  return output.trimEnd().split('\n')
}

test.each([
  ['embedded', 'start'],
  ['ingest-api', 'start:ingest-api'],
  ['projector', 'start:projector'],
])('the image runs %s with the same Node options as `npm run %s`', async (program, script) => {
  const [, ...words] = (scripts[script] ?? '').split(' ')
  const options = words.filter((word) => word.startsWith('--'))
  expect(await started(program)).toEqual([...options, `dist/${program}/main.js`])
})

test("an operators' command gets its arguments unchanged", async () => {
  const args = ['--email', 'a b@example.org']
  const words = await started('commands/set-password', ...args)
  expect(words).toEqual(['dist/commands/set-password/main.js', ...args])
})

test('the heaps of both threads fit the memory required in the guide to a small server', () => {
  const [, heapMb] = /--max-old-space-size=(\d+) /.exec(scripts['start'] ?? '') ?? []
  const [, gigabytes] = /with (\d+) GB of memory/.exec(read('docs/small-server.md')) ?? []
  // Besides the heaps: young objects, buffers, caches, and the rest of the machine.
  expect(2 * Number(heapMb) + 800).toBeLessThanOrEqual(Number(gigabytes) * 1_000)
})

test('only package.json has options for Node', () => {
  expect(scripts['start:ingest-api']).toContain('--max-old-space-size=1024 ')
  for (const file of ['Dockerfile', 'docker-compose.yml']) {
    expect(read(file)).not.toMatch(/space-size|pool-size|pretenuring/)
  }
})
