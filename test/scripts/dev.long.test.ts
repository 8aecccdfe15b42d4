import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { freePort } from '../services/own-server.ts'
import { ownDirectory } from '../own-directory.ts'
import { endedWithTheTests, endPrograms } from '../running-programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

afterEach(endPrograms)

test('npm run dev starts the service again after a save in place, a save by renaming, and a mended fault', async () => {
  const project = await ownDirectory()
  const inProject = (...names: string[]) => join(project, ...names)
  for (const name of ['package.json', 'package-lock.json', 'scripts']) {
    cpSync(join(root, name), inProject(name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), inProject('node_modules'))
  for (const name of ['embedded', 'schemas', 'console']) mkdirSync(inProject(name))
  writeFileSync(inProject('schemas', 'none.ts'), 'export const none = 1\n')
  writeFileSync(inProject('console', 'vite.config.mjs'), 'export default { root: "console" }\n')
  const source = inProject('embedded', 'main.ts')
  const program = (says: string) =>
    `console.log('says ${says}')\nsetInterval(() => undefined, 1e6)\n`
  writeFileSync(source, program('first'))
  const env = { ...process.env, CONSOLE_DEV_PORT: `${await freePort()}` }
  const dev = endedWithTheTests(
    spawn(process.execPath, ['scripts/dev.mjs'], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const says = (text: string) => eventually(() => dev.output().includes(text), { withinMs: 60_000 })
  await says('says first')
  await says('the console with live reload')
  writeFileSync(source, program('in place'))
  await says('says in place')
  writeFileSync(`${source}.new`, program('renamed'))
  renameSync(`${source}.new`, source)
  await says('says renamed')
  writeFileSync(source, 'throw new Error("broken")\n')
  await says('the service has ended; a saved change starts it again')
  writeFileSync(source, program('mended'))
  await says('says mended')
  dev.process.kill('SIGTERM')
  await dev.ended
  expect(dev.output().match(/says renamed/g)).toHaveLength(1)
})
