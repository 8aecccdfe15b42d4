import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

test('containers run the ingest API with the options of Node that npm runs it with', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const [, options] = /^node (.+) scripts\/run\.mjs/.exec(scripts['start:ingest-api'] ?? '') ?? []
  const words = ['node', ...(options ?? '').split(' '), 'dist/ingest-api/main.js']
  expect(words).toHaveLength(4)
  expect(read('Dockerfile')).toContain(`CMD ${JSON.stringify(words).replaceAll(',', ', ')}`)
  expect(read('docker-compose.yml')).toContain(`command: [${words.join(', ')}]`)
})
