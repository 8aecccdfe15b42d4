import { describe, expect, test } from '@jest/globals'
import { commandLine, refuseOptions, UsageError } from '../../../runtime/process/command-line.ts'

const line = commandLine({
  begin: 'Usage: walk FILE…',
  operands: { 'FILE…': 'what to walk' },
  options: {
    speed: { type: 'string', value: 'N', about: `${'how fast '.repeat(12)}\n  (default 1)` },
    slow: { title: 'Rarely', type: 'boolean', about: 'no haste' },
  },
  end: 'Exit code: 0 walked.',
})
const parse = (...args: string[]) => line.parse(args, (values, files) => ({ ...values, files }))

describe('a command line', () => {
  test('its help has operands, options, and titles with the options below them, at most 100 wide', () => {
    expect(line.help).toBe(`Usage: walk FILE…

  FILE…      what to walk
  --speed N  how fast how fast how fast how fast how fast how fast how fast how fast how fast how
             fast how fast how fast${' '}
               (default 1)
  --help     this text

Rarely
  --slow     no haste

Exit code: 0 walked.
`)
  })

  test('it parses the values of options, and the operands', () => {
    expect(parse('a', '--speed', '3', 'b')).toEqual({ speed: '3', files: ['a', 'b'] })
    expect(parse('--slow')).toEqual({ slow: true, files: [] })
  })

  test('--help and -h print the help, even with other arguments', () => {
    expect(parse('--help', 'a')).toBe('help')
    expect(parse('--slow', '-h')).toBe('help')
  })

  test('it names the first invalid argument, with keys masked', () => {
    expect(() => parse('--sped')).toThrow("Unknown option '--sped'")
    expect(() => parse('--speed')).toThrow(': --help lists the options')
    expect(() => parse('--gps_0123abcd')).toThrow("Unknown option '--gps_…'")
    const bare = commandLine({ begin: '', options: {} })
    expect(() => bare.parse(['x'], () => 0)).toThrow(UsageError)
  })

  test('it rejects an option that conflicts with another, by name', () => {
    expect(() => refuseOptions({ slow: true }, ['speed', 'slow'], 'goes alone')).toThrow(
      '--slow goes alone',
    )
    expect(() => refuseOptions({ slow: true }, ['speed'], 'goes alone')).not.toThrow()
  })
})
