import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('..', import.meta.url))
const services = ['ingest-api', 'projector', 'deliverer', 'admin-api']
const ports = [
  'event-log/event-log.ts',
  'event-log/fact-log.ts',
  'event-log/feeds.ts',
  'event-log/reading/',
  'event-log/offsets.ts',
  'event-log/topic.ts',
  'store/store.ts',
  'store/read-models.ts',
  'store/generations.ts',
  'store/back-office.ts',
  'store/keys.ts',
  'store/operators.ts',
  'store/definitions.ts',
  'store/facts.ts',
  'store/handlings.ts',
  'store/follow-changes.ts',
  'store/rejections.ts',
  'store/subscriptions.ts',
]

const forCommands = [
  ...['command', 'open', 'progress'].map((name) => `commands/${name}.ts`),
  ...['schemas/', 'runtime/'],
]

const forAdapters = [
  'runtime/end-of-turn.ts',
  'runtime/errors.ts',
  'runtime/process/lingering.ts',
  'runtime/process/outage.ts',
  'runtime/process/read-pages.ts',
  'runtime/process/repeat.ts',
  'runtime/process/sealed-secrets.ts',
  'runtime/limits/slots.ts',
  'runtime/sqlite/',
  'runtime/sum.ts',
]

/** The layers of the web page, from pages down to code that needs no browser. */
const rooms = (...names: readonly string[]) => names.map((name) => `console/${name}/`)
const consoleRooms = {
  'console/app': rooms('pages', 'ui', 'live', 'core'),
  'console/pages': ['schemas/', ...rooms('map', 'ui', 'live', 'api', 'core', 'guides')],
  'console/map': ['schemas/geo/mercator.ts', ...rooms('ui', 'api', 'core')],
  'console/ui': rooms('core'),
  'console/live': rooms('api', 'core'),
  'console/api': rooms('core'),
  'console/core': ['schemas/', 'console/api/schema.ts'],
  'console/history': ['schemas/', ...rooms('core')],
  'console/guides': [],
  'console/world': [],
}

/** The folders that the files of a folder may import from, besides the folder itself. */
const allowed: Record<string, readonly string[]> = {
  schemas: [],
  runtime: ['schemas/'],
  'event-log': ['schemas/', ...forAdapters],
  store: [
    'schemas/',
    'event-log/fact-log.ts',
    'event-log/offsets.ts',
    'runtime/clock.ts',
    'runtime/json-size.ts',
    'runtime/limits/rate-counters.ts',
    ...forAdapters,
  ],
  ...Object.fromEntries(services.map((name) => [name, ['schemas/', 'runtime/', ...ports]])),
  embedded: [...services.map((name) => `${name}/`), 'schemas/', 'runtime/', ...ports],
  commands: ['runtime/', ...ports],
  'commands/backup': ['projector/', ...forCommands, ...ports],
  'commands/restore': ['commands/backup/', ...forCommands],
  'commands/dead-letters': [...forCommands, ...ports],
  'commands/import': ['client/', ...forCommands],
  'commands/rebuild': ['projector/', ...forCommands, ...ports],
  'commands/set-password': ['admin-api/sign-in/', ...forCommands, ...ports],
  'commands/simulate': ['client/', ...forCommands],
  client: [],
  bench: [
    ...['commands/command.ts', 'projector/', 'admin-api/places/', 'schemas/', 'runtime/'],
    ...[...ports, 'test/'],
  ],
  console: rooms('app', 'ui', 'live', 'api', 'core'),
  ...consoleRooms,
  scripts: [
    'console/guides/',
    'schemas/',
    'runtime/',
    ...['ingest-api/openapi.ts', 'admin-api/openapi.ts', 'admin-api/app.ts'],
  ],
  'docs/examples': [],
}
const adapters = /^(event-log|store)\/(kafka|mongo|spool|sqlite)\/.+/

/**
 * The folders of a service, ordered so that imports only point forward; in the ingest API this is a
 * report's path.
 */
const ways: Record<string, readonly string[]> = {
  'ingest-api': ['endpoints', 'apps', 'admission', 'accept'],
  'admin-api': [
    ...[
      'console-page',
      'accounts',
      'sign-in',
      'imports',
      'keys',
      'shares',
      'feeds',
      'stream',
      'subscriptions',
      'rules',
      'geofences',
      'reports',
      'devices',
      'places',
      'http',
    ],
  ],
}

type Import = { readonly from: string; readonly to: string }

/** The files of a folder, except in subfolders with separate rules. */
function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter((file) => ruledBy(file) === folder)
}

function ruledBy(file: string): string {
  const folders = Object.keys(allowed).filter((folder) => file.startsWith(`${folder}/`))
  return folders.sort((a, b) => b.length - a.length)[0] ?? ''
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/\bfrom '(\.{1,2}\/[^']+)'|\bimport\(\s*'(\.{1,2}\/[^']+)'/g)].map(
    (match) => ({ from: file, to: normalize(join(dirname(file), match[1] ?? match[2] ?? '')) }),
  )
}

function isAllowed({ from, to }: Import): boolean {
  const folder = ruledBy(from)
  if (ruledBy(to) === folder) return !to.endsWith('/main.ts')
  if ((from.endsWith('/main.ts') || folder === 'commands') && adapters.test(to)) return true
  return (allowed[folder] ?? []).some(
    (place) => to === place || (place.endsWith('/') && to.startsWith(place)),
  )
}

/** The imports between folders of a service, as `from → to`. */
function arrows(service: string, imports: readonly Import[]): string[] {
  const folderOf = (file: string) => {
    const [place, folder, ...rest] = file.split('/')
    return place === service && rest.length > 0 ? folder : undefined
  }
  const found = imports.flatMap(({ from, to }) => {
    const [a, b] = [folderOf(from), folderOf(to)]
    return a !== undefined && b !== undefined && a !== b ? [`${a} → ${b}`] : []
  })
  return [...new Set(found)].sort()
}

function onwards(way: readonly string[]): string[] {
  return way.flatMap((from, place) => way.slice(place + 1).map((to) => `${from} → ${to}`)).sort()
}

/** Groups of files that import each other, directly or not. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reach = new Map([...imports.keys()].map((file) => [file, reachable(file)]))
  const found = new Map<string, string[]>()
  for (const [file, reached] of reach) {
    if (!reached.has(file)) continue
    const circle = [...reached].filter((other) => reach.get(other)?.has(file)).sort()
    found.set(circle.join(), circle)
  }
  return [...found.values()]

  function reachable(file: string): Set<string> {
    const seen = new Set<string>()
    const open = [...(imports.get(file) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(imports.get(next) ?? []))
    }
    return seen
  }
}

describe("imports follow a position's path", () => {
  test.each(Object.keys(allowed))('%s imports only what it may', (folder) => {
    const imports = sources(folder).flatMap(importsOf)
    expect(imports.filter((found) => !isAllowed(found))).toEqual([])
  })

  test('imports are found, and allowed or rejected by the rules', () => {
    const found = sources('ingest-api').flatMap(importsOf)
    expect(found).toContainEqual({ from: 'ingest-api/app.ts', to: 'event-log/event-log.ts' })
    expect(isAllowed({ from: 'ingest-api/app.ts', to: 'store/sqlite/sqlite-store.ts' })).toBe(false)
    expect(isAllowed({ from: 'ingest-api/app.ts', to: 'projector/projector.ts' })).toBe(false)
    expect(isAllowed({ from: 'embedded/main.ts', to: 'store/sqlite/sqlite-store.ts' })).toBe(true)
  })

  test.each(Object.entries(ways))(
    'within %s, folders import only later folders',
    (service, way) => {
      expect(onwards(way)).toEqual(
        expect.arrayContaining(arrows(service, sources(service).flatMap(importsOf))),
      )
    },
  )

  test('no imports form a cycle', () => {
    const files = Object.keys(allowed).flatMap(sources)
    expect(
      circles(new Map(files.map((file) => [file, importsOf(file).map(({ to }) => to)]))),
    ).toEqual([])
  })

  test('an exported name has one definition, except in pairs of adapters and the options of commands', () => {
    const filesOf = new Map<string, string[]>()
    for (const file of Object.keys(allowed).flatMap(sources)) {
      const text = readFileSync(join(root, file), 'utf8')
      const exported = /^export (?:async )?(?:const|function\*?|class|type|interface) (\w+)/gm
      // Overloads export the same function several times.
      for (const name of new Set([...text.matchAll(exported)].map((match) => match[1] ?? ''))) {
        filesOf.set(name, [...(filesOf.get(name) ?? []), file])
      }
    }
    const isPair = (files: readonly string[]) =>
      new Set(files.map((file) => file.replace(/\b(sqlite|mongo)\b.*/, ''))).size === 1 &&
      files.length === 2
    const isOfCommand = (files: readonly string[]) =>
      files.every((file) => /(options|command|command-line)\.ts$/.test(file))
    const twice = [...filesOf].filter(
      ([, files]) => files.length > 1 && !isPair(files) && !isOfCommand(files),
    )
    expect(twice).toEqual([])
  })

  test('the core of the page needs no packages, so that Node can run it', () => {
    const packages = sources('console/core').filter((file) =>
      /\bfrom '[^.]/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(packages).toEqual([])
  })

  test('readers of third-party formats use neither HTTP nor files', () => {
    const packages = sources('schemas')
      .filter((file) => file.startsWith('schemas/formats/'))
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(/\bfrom '([^.'][^']*)'/g),
      ])
    expect(new Set(packages.map((match) => match[1]))).toEqual(
      new Set(['@streamparser/json', 'csv-parse', 'node:buffer', 'saxes']),
    )
  })

  test('only the configuration reads environment variables', () => {
    const readers = Object.keys(allowed)
      .flatMap(sources)
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    expect(readers.filter((file) => !file.startsWith('scripts/'))).toEqual([
      'runtime/config/config.ts',
    ])
  })
})
