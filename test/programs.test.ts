import { afterEach, expect, test } from '@jest/globals'
import { listens, startProgram } from './programs.ts'
import { endPrograms } from './running-programs.ts'

afterEach(endPrograms)

test('a program that is given up before it listens does not go on', async () => {
  const program = startProgram('commands/simulate/main', {
    args: ['--help'],
    env: { NODE_OPTIONS: FOREVER },
  })
  await expect(listens(program, 'nothing', { withinMs: 50 })).rejects.toThrow('within 50 ms')
  expect(await program.ended).toBe('SIGKILL')
})

test('whatever a test has started and left ends with it', async () => {
  const program = startProgram('commands/simulate/main', {
    args: ['--help'],
    env: { NODE_OPTIONS: FOREVER },
  })
  await endPrograms()
  expect(await program.ended).toBe('SIGKILL')
})

test('programs are built before the tests that start them begin', async () => {
  const program = startProgram('commands/simulate/main', { args: ['--help'] })
  expect(await program.ended).toBe(0)
  expect(program.output()).not.toContain('building')
})

const FOREVER = `--import data:text/javascript,${encodeURIComponent(
  'await new Promise((never) => setTimeout(never, 1e8))',
)}`
