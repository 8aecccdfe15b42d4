import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { temporaryDirectory } from '../programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let project: Awaited<ReturnType<typeof temporaryDirectory>>

/** A project of one source and one schema, built by our own script. */
beforeEach(async () => {
  project = await temporaryDirectory()
  const copied = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  for (const file of [...copied, 'scripts/build.mjs']) cpSync(join(root, file), inProject(file))
  symlinkSync(join(root, 'node_modules'), inProject('node_modules'))
  mkdirSync(inProject('schemas'))
  write('schemas/answer.ts', 'export const answer = 1\n')
  write('schemas/answer.avsc', '"int"\n')
})

afterEach(() => project.remove())

const inProject = (file: string) => join(project.path, file)
const write = (file: string, text: string) => writeFileSync(inProject(file), text)
const read = (file: string) => readFileSync(inProject(file), 'utf8')
const build = () => promisify(execFile)('node', ['scripts/build.mjs'], { cwd: project.path })

test('a source or a schema that has changed is built anew, and nothing else is', async () => {
  await build()
  expect(read('dist/schemas/answer.js')).toContain('answer = 1')
  const built = statSync(inProject('dist/.made-from')).mtimeMs
  await build()
  expect(statSync(inProject('dist/.made-from')).mtimeMs).toBe(built)

  write('schemas/answer.ts', 'export const answer = 2\n')
  await build()
  expect(read('dist/schemas/answer.js')).toContain('answer = 2')

  write('schemas/answer.avsc', '"long"\n')
  await build()
  expect(read('dist/schemas/answer.avsc')).toContain('long')
}, 60_000)

test('sources that do not compile leave what was built before', async () => {
  await build()
  write('schemas/answer.ts', 'export const answer: string = 2\n')
  await expect(build()).rejects.toThrow('do not compile')
  expect(read('dist/schemas/answer.js')).toContain('answer = 1')
}, 60_000)
