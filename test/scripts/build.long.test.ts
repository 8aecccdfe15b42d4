import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let project: string

/** A project with one source and one schema, built by our script. */
beforeEach(async () => {
  project = await ownDirectory()
  const copied = ['package.json', 'package-lock.json']
  for (const file of [...copied, 'scripts']) {
    const filter = (path: string) => !path.endsWith('.ts')
    cpSync(join(root, file), inProject(file), { recursive: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), inProject('node_modules'))
  mkdirSync(inProject('schemas'))
  write('schemas/answer.ts', 'export const answer = 1\n')
})

const inProject = (file: string) => join(project, file)
const write = (file: string, text: string) => writeFileSync(inProject(file), text)
const read = (file: string) => readFileSync(inProject(file), 'utf8')
const build = () => promisify(execFile)('node', ['scripts/build.mjs'], { cwd: project })
const made = (part: string) => statSync(inProject(`${part}/.made-from`)).mtimeMs

test('only a changed source or schema is rebuilt', async () => {
  await build()
  expect(read('dist/schemas/answer.js')).toContain('answer = 1')
  const built = made('dist')
  await build()
  expect(made('dist')).toBe(built)

  write('schemas/answer.ts', 'export const answer = 2\n')
  await build()
  expect(read('dist/schemas/answer.js')).toContain('answer = 2')
})

test('sources that do not compile leave the previous build', async () => {
  await build()
  write('schemas/answer.ts', 'export const answer = \n')
  await expect(build()).rejects.toThrow('schemas/answer.ts does not compile')
  expect(read('dist/schemas/answer.js')).toContain('answer = 1')
})

describe('a project with a console', () => {
  const page = () => {
    const names = readdirSync(inProject('dist/console/site/assets'))
    const read = (ending: string) => {
      const name = names.find((one) => one.endsWith(ending)) ?? ''
      return readFileSync(inProject(`dist/console/site/assets/${name}`), 'utf8')
    }
    return { script: read('.js'), style: read('.css'), names }
  }

  beforeEach(() => {
    mkdirSync(inProject('console'))
    mkdirSync(inProject('guides'))
    for (const file of ['console/vite.config.mjs', 'console/theme.js', 'console/icons']) {
      cpSync(join(root, file), inProject(file), { recursive: true })
    }
    // The project has none of the libraries from which this omits parts.
    write(
      'console/unused-modules.mjs',
      `export const withoutUnusedModules = () => ({ name: 'none' })`,
    )
    write('console/index.html', '<script type="module" src="./main.tsx"></script>')
    write('console/main.tsx', `import './main.css'\ndocument.title = 'first'\n`)
    write('console/main.css', 'p { color: red }\n')
  })

  test('the console is built with content-hashed names, and compressed', async () => {
    await build()
    expect(page().script).toContain('first')
    expect(page().names).toContainEqual(expect.stringMatching(/^index-[\w-]{8}\.js$/))
    const compressed = page().names.find((name) => name.endsWith('.js.gz')) ?? ''
    const bytes = readFileSync(inProject(`dist/console/site/assets/${compressed}`))
    expect(gunzipSync(bytes).toString()).toBe(page().script)
  })

  test('builds only the part whose sources have changed', async () => {
    await build()
    const before = { services: made('dist'), site: made('dist/console/site') }
    mkdirSync(inProject('dist/console/map'))
    write('dist/console/map/world.pmtiles', 'the world')

    write('console/main.css', 'p { color: blue }\n')
    await build()
    expect(page().style).toMatch(/blue|#00f/)
    expect(made('dist')).toBe(before.services)

    const site = made('dist/console/site')
    write('console/main.tsx', `import './main.css'\ndocument.title = 'second'\n`)
    await build()
    expect(page().script).toContain('second')
    expect(made('dist/console/site')).not.toBe(site)

    const last = made('dist/console/site')
    mkdirSync(inProject('commands'))
    write('commands/answer.ts', 'export const answer = 2\n')
    await build()
    expect(made('dist')).not.toBe(before.services)
    expect(made('dist/console/site')).toBe(last)
    expect(read('dist/console/map/world.pmtiles')).toBe('the world')
  })

  test('a console that cannot be built leaves the previous one', async () => {
    await build()
    write('console/main.tsx', 'const = ')
    await expect(build()).rejects.toThrow('do not compile')
    expect(page().script).toContain('first')
  })
})
