import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { parseOptions } from '../../bench/options.ts'
import { figures } from '../../bench/figures.ts'
import { readResult } from '../../bench/part.ts'
import { UsageError } from '../../runtime/process/command-line.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'

const directory = directoryForEachTest()

async function bench(...args: string[]) {
  const child = spawn('npm', ['run', '--silent', 'bench', '--', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, output, errors }
}

test('a short run prints its tables and stores everything acknowledged', async () => {
  const file = join(directory(), 'result.json')
  const { code, output, errors } = await bench(
    ...['embedded', 'readable', 'sqlite', '--short', '--seconds', '0.2', '--json', file],
  )
  if (code !== 0) throw new Error(`${output}\n${errors}`)
  const result = readResult(file)
  expect(result.map(({ faults }) => faults)).toEqual([[], [], []])
  const [submit, readable, projector] = result
  const services = submit?.rows.map((row) => row['service'])
  expect(new Set(services)).toEqual(new Set(['bare node:http', 'embedded']))
  for (const row of submit?.rows ?? []) {
    for (const column of ['reports/s', 'CPU µs/report', 'p50 ms', 'memory MB']) {
      expect(row[column]).toBeGreaterThan(0)
    }
  }
  expect(readable?.rows[0]?.['asked for']).toBeGreaterThan(0)
  expect(readable?.rows[0]?.['fact p99 ms']).toBeGreaterThan(0)
  const projected = { into: 'SQLite', '÷ without': expect.any(Number) }
  expect(projector?.rows).toEqual(Array(3).fill(expect.objectContaining(projected)))
  for (const { name, verdict } of figures(result)) {
    expect(output).toContain(name)
    expect(output).toContain(verdict)
  }
})

test('--help lists the parts; an unknown part is named', async () => {
  const help = await bench('--help')
  expect(help.code).toBe(0)
  expect(help.output).toContain('projector')
  const mistaken = await bench('projektor')
  expect(mistaken).toMatchObject({ code: 2, output: '' })
  expect(mistaken.errors).toContain('there is no part "projektor": --help lists them\n')
})

test('docs/scaling.md shows what its commands print', async () => {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^npm run bench -- (--capacity(?: --devices \d+)?)$/gm)]
  expect(commands).toHaveLength(2)
  for (const [, args = ''] of commands) {
    const { output } = await bench(...args.split(' '))
    expect(page).toContain(`\n\`\`\`\n${output}\`\`\`\n`)
  }
})

test('parts and rounds are taken from the command line', () => {
  expect(parseOptions(['submit', '--short'])).toMatchObject({
    parts: new Set(['embedded', 'kafka']),
    rounds: 1,
  })
  expect(parseOptions([])).toMatchObject({
    parts: new Set(['embedded', 'kafka', 'readable', 'sqlite', 'mongodb']),
    rounds: 5,
  })
  expect(() => parseOptions(['--rounds', '0'])).toThrow(UsageError)
  expect(parseOptions(['--seconds', '0.5'])).toMatchObject({ seconds: 0.5 })
  expect(() => parseOptions(['--seconds', '-1'])).toThrow(UsageError)
  expect(() => parseOptions(['--fast'])).toThrow(UsageError)
  expect(parseOptions(['--capacity', '--retention', '365'])).toMatchObject({
    file: 'bench/result.json',
    capacity: { intervalSeconds: 10, retentionDays: 365 },
  })
})
