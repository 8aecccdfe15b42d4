import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'

const FOLDERS = ['docs', 'ops', 'bench', 'client', 'console', 'test']
const documents = [
  ...readdirSync('.'),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
].filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
/** All files of TypeScript, except the generated ones. */
const sources = readdirSync('.', { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && !/^(\.|node_modules|dist|data|coverage)/.test(entry.name),
  )
  .flatMap(({ name }) =>
    readdirSync(name, { recursive: true, encoding: 'utf8' }).map((file) => join(name, file)),
  )
  .filter((file) => file.endsWith('.ts'))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}

test.each(documents)('the links of %s lead to existing files and headings', (document) => {
  const links = [...textOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const own = links.filter((link) => !/^(https?|mailto):/.test(link))
  expect(own.filter((link) => !exists(document, link))).toEqual([])
})

test.each(documents)('%s names only existing scripts of package.json', (document) => {
  const named = [
    ...textOf(document).matchAll(/\bnpm (?:run (?:-s |--silent )?([a-z:-]+)|(start|test)\b)/g),
  ]
  const unknown = named
    .map(([, run, script = '']) => run ?? script)
    .filter((name) => !(name in scripts))
  expect(unknown).toEqual([])
})

test.each(['ARCHITECTURE.md', ...documents.filter((file) => file.startsWith('docs/decisions/'))])(
  '%s names files of the code',
  (document) => {
    const named = [...textOf(document).matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => file)
    expect(named.filter((file) => !sources.some((one) => `/${one}`.endsWith(`/${file}`)))).toEqual(
      [],
    )
  },
)

function exists(document: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? document : join(dirname(document), path)
  if (!existsSync(target)) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** The anchors that GitHub derives from a document's headings. */
function headingsOf(document: string): string[] {
  const text = textOf(document).replaceAll(/```[\s\S]*?```/g, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function textOf(document: string): string {
  return readFileSync(document, 'utf8')
}
