import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

test('V8 has one helper thread: more of them take the processors of the thread that answers', () => {
  for (const name of ['start', 'start:ingest-api'])
    expect(scripts[name]).toContain('--v8-pool-size=1 ')
})

test('containers run the ingest API with the options of Node that npm runs it with', () => {
  const [, options] = /^node (.+) scripts\/run\.mjs/.exec(scripts['start:ingest-api'] ?? '') ?? []
  // Without a bound V8 lets the heap grow far beyond what is used of it.
  expect(options).toMatch(/--max-old-space-size=1024\b/)
  // With pretenuring V8 allocates some objects of each batch in the old generation, and all of the batch with them.
  expect(options).toContain('--no-allocation-site-pretenuring')
  const words = ['node', ...(options ?? '').split(' '), 'dist/ingest-api/main.js']
  expect(read('Dockerfile')).toContain(`CMD ${JSON.stringify(words).replaceAll(',', ', ')}`)
  const lines = words.map((word) => `      - ${word}\n`)
  expect(read('docker-compose.yml')).toContain(`command:\n${lines.join('')}`)
})
