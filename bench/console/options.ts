import { commandLine } from '../../runtime/process/command-line.ts'
import { numberOption } from '../../runtime/process/option-values.ts'

export type ConsoleOptions = {
  readonly rounds: number
  /** How long the heap is watched. */
  readonly minutes: number
}

const line = commandLine({
  begin: `Measures the console in headless Chromium, drawing in software, against a real service in one process
with 10 000 devices and 200 reports a second, and prints a table. Linux only.

  npm run bench:console -- [--rounds N] [--minutes N]`,
  options: {
    rounds: {
      type: 'string',
      value: 'N',
      about: 'how often each figure but the heap is measured; the median counts (default 3)',
    },
    minutes: {
      type: 'string',
      value: 'N',
      about: 'for how long the heap is watched (default 1; the bound is for 10)',
    },
  },
  end: 'Ends with code 1 if a report was not acknowledged or a page threw: then the figures are void.',
})
export const CONSOLE_HELP = line.help

/** @throws {UsageError} */
export function parseConsoleOptions(args: readonly string[]): ConsoleOptions | 'help' {
  return line.parse(args, (values) => ({
    rounds: numberOption(values, 'rounds', { fallback: 3, min: 1, max: 100, whole: true }),
    minutes: numberOption(values, 'minutes', { fallback: 1, min: 0.01, max: 600 }),
  }))
}
