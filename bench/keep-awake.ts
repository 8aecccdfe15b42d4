import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Ends with its parent. */
const SPIN = `
  const parent = process.ppid
  while (process.ppid === parent) for (let n = 0; n < 1e7; n += 1);
`

/**
 * Keeps the processors from halting until the function it gives is called: one that a virtual machine
 * has halted is given back by its host milliseconds after it is needed. Loops on every processor, of the
 * scheduling class SCHED_IDLE, which every other thread displaces at once.
 */
export function keepAwake(): () => void {
  const spinners = Array.from({ length: availableParallelism() }, () =>
    spawn('chrt', ['--idle', '0', process.execPath, '-e', SPIN], { stdio: 'ignore' }),
  )
  for (const spinner of spinners) {
    spinner.once('error', (error) => {
      throw new Error('the bench needs chrt, of the package util-linux: install it', {
        cause: error,
      })
    })
  }
  return () => {
    for (const spinner of spinners) spinner.kill('SIGKILL')
  }
}
