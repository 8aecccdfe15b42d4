import type { RunningProgram } from '../running-programs.ts'

export type LogLine = Readonly<Record<string, unknown>>

/** The lines logged by a program so far. */
export function logLines(program: RunningProgram): LogLine[] {
  return program
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine)
}
