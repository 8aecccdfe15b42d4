import { expect, test } from '@jest/globals'
import { startProgram } from '../../../programs.ts'

const PROGRAM = 'docs/examples/consumer/consume-positions'

test('--help explains the usage, and a bad argument is rejected with the reason', async () => {
  const help = startProgram(PROGRAM, { args: ['--help'] })
  expect(await help.ended).toBe(0)
  expect(help.output()).toContain('--brokers')
  const wrong = startProgram(PROGRAM, { args: ['--brokers', 'nowhere'] })
  expect(await wrong.ended).toBe(2)
  expect(wrong.output()).toContain('--brokers must be HOST:PORT')
})
