import { expect, test } from '@jest/globals'
import { HELP, parseOptions } from '../../../commands/rebuild/options.ts'
import { UsageError } from '../../../runtime/process/command-line.ts'

test('a rebuild without arguments forces nothing', () => {
  expect(parseOptions([])).toEqual({ force: false })
  expect(parseOptions(['--force'])).toEqual({ force: true })
})

test('both help options print all options', () => {
  expect(parseOptions(['--help'])).toBe('help')
  expect(parseOptions(['--force', '-h'])).toBe('help')
  expect(HELP).toContain('--force')
})

test.each([['--forced'], ['now'], ['--force=true'], ['']])('%j is rejected', (arg) => {
  expect(() => parseOptions(['--force', arg])).toThrow(UsageError)
})
