import { startProgram } from '../../test/programs.ts'
import type { RunningProgram } from '../../test/running-programs.ts'

/** Starts a program of the service that exits at the latest with the bench. */
export function startServiceProgram(name: string, env: Record<string, string>): RunningProgram {
  const program = startProgram(name, { env })
  process.once('exit', () => program.process.kill('SIGKILL'))
  return program
}
