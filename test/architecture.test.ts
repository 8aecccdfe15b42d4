import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('..', import.meta.url))
const services = ['ingest-api', 'projector', 'admin-api']
const ports = ['event-log/event-log.ts', 'store/store.ts', 'store/back-office.ts']

/** What the files of a folder may import of ours, besides the folder itself. */
const allowed: Record<string, readonly string[]> = {
  schemas: [],
  runtime: ['schemas/'],
  'event-log': ['schemas/', 'runtime/errors.ts'],
  store: ['schemas/', 'runtime/errors.ts'],
  ...Object.fromEntries(services.map((name) => [name, ['schemas/', 'runtime/', ...ports]])),
  embedded: [...services.map((name) => `${name}/`), 'schemas/', 'runtime/', ...ports],
  rebuild: ['projector/', 'schemas/', 'runtime/', ...ports],
  scripts: [
    'schemas/',
    'runtime/',
    ...['ingest-api/openapi.ts', 'admin-api/openapi.ts', 'admin-api/app.ts'],
  ],
  examples: [],
}
const adapters = /^(event-log|store)\/.+/

type Import = { readonly from: string; readonly to: string }

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/\bfrom '(\.{1,2}\/[^']+)'|\bimport\(\s*'(\.{1,2}\/[^']+)'/g)].map(
    (match) => ({ from: file, to: normalize(join(dirname(file), match[1] ?? match[2] ?? '')) }),
  )
}

function isAllowed({ from, to }: Import): boolean {
  const folder = from.split('/')[0] ?? ''
  if (to.startsWith(`${folder}/`)) return !to.endsWith('/main.ts')
  if (from.endsWith('/main.ts') && adapters.test(to)) return true
  return (allowed[folder] ?? []).some(
    (place) => to === place || (place.endsWith('/') && to.startsWith(place)),
  )
}

describe('imports follow the way of a position', () => {
  test.each(Object.keys(allowed))('%s imports only what it may', (folder) => {
    const imports = sources(folder).flatMap(importsOf)
    expect(imports.filter((found) => !isAllowed(found))).toEqual([])
  })

  test('the rules see the imports they are about', () => {
    const found = sources('ingest-api').flatMap(importsOf)
    expect(found).toContainEqual({ from: 'ingest-api/submit.ts', to: 'event-log/event-log.ts' })
    expect(isAllowed({ from: 'ingest-api/submit.ts', to: 'store/sqlite-store.ts' })).toBe(false)
    expect(isAllowed({ from: 'ingest-api/app.ts', to: 'projector/projector.ts' })).toBe(false)
    expect(isAllowed({ from: 'embedded/main.ts', to: 'store/sqlite-store.ts' })).toBe(true)
  })

  test('only the configuration reads environment variables', () => {
    const readers = Object.keys(allowed)
      .flatMap(sources)
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    expect(readers.filter((file) => !file.startsWith('scripts/'))).toEqual(['runtime/config.ts'])
  })
})
