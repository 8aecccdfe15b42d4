import { readFileSync } from 'node:fs'

/** Linux counts the CPU time of a process in these units on every machine (USER_HZ). */
const TICKS_PER_SECOND = 100

/** The CPU time that all threads of a process have used, in seconds, as in `process.cpuUsage`. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, and may contain any characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Measures the CPU time of this process from now on, in microseconds. */
export function measureCpuMicros(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

/** The resident memory of a process, in MB. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) / 1024
}

/**
 * Measures which share of this machine's processors is taken by other machines on the same hardware
 * from now on, from 0 to 1; always 0 on dedicated hardware.
 */
export function measureStolenShare(): () => number {
  const before = cpuTicks()
  return () => {
    const now = cpuTicks()
    return (now.stolen - before.stolen) / Math.max(1, now.all - before.all)
  }
}

/**
 * The ticks of all processors since the machine started. The eighth number counts the stolen ticks;
 * see proc(5).
 */
function cpuTicks(): { readonly all: number; readonly stolen: number } {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 }
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const ticks = line.split(/\s+/).slice(1, 9).map(Number)
  return { all: ticks.reduce((sum, one) => sum + one, 0), stolen: ticks[7] ?? 0 }
}
