import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { DependencyError, unavailable } from '../../runtime/errors.ts'
import { refusalLog } from '../../runtime/http.ts'
import { eventually } from '../eventually.ts'

type Line = { refused: number; reason: string; err?: { message: string; stack: string } }

test('a flood of answers with 503 is one line a second, with their number and no stack', async () => {
  const lines: string[] = []
  const note = refusalLog({ logger: pino({}, { write: (line: string) => lines.push(line) }) })
  for (let time = 0; time < 1_000; time += 1) note(unavailable('the line is full'))
  expect(lines).toHaveLength(1)
  await eventually(() => lines.length === 2)
  const told = lines.map((line) => JSON.parse(line) as Line)
  expect(told.map(({ refused }) => refused)).toEqual([1, 999])
  expect(told[1]).toMatchObject({ reason: 'the line is full', msg: 'answered with 503' })
  for (const line of lines) expect(line.length).toBeLessThan(300)
})

test('what lies behind an answer with 503 is told with it', () => {
  const lines: string[] = []
  const note = refusalLog({ logger: pino({}, { write: (line: string) => lines.push(line) }) })
  note(unavailable('send it again', new DependencyError('the store is away', { retriable: true })))
  const { err } = JSON.parse(lines[0] ?? '') as Line
  expect(err?.message).toBe('the store is away')
})
