// npm run docs:senders: writes docs/senders/ from console/guides/. With --check it only lists
// outdated files.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from '../console/guides/to-markdown.ts'

const [option] = process.argv.slice(2)
if (option !== undefined && option !== '--check') {
  process.stdout.write(
    'npm run docs:senders writes docs/senders from console/guides. With -- --check it only lists\n' +
      'the files that are out of date, and fails if there are any.\n',
  )
  process.exit(option === '--help' ? 0 : 2)
}

const folder = join('docs', 'senders')
const wanted = await pages()
mkdirSync(folder, { recursive: true })
const there = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)
const stale = [...new Set([...wanted.keys(), ...there.keys()])].filter(
  (name) => wanted.get(name) !== there.get(name),
)
if (option === '--check') {
  if (stale.length > 0) {
    process.stderr.write(`out of date, run npm run docs:senders: ${stale.join(', ')}\n`)
    process.exitCode = 1
  }
} else {
  for (const name of stale) {
    const text = wanted.get(name)
    if (text === undefined) rmSync(join(folder, name))
    else writeFileSync(join(folder, name), text)
  }
}
