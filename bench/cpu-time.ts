import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** What Linux counts the CPU time of a process in, whatever the machine (USER_HZ). */
const TICKS_PER_SECOND = 100

/** The CPU time that all threads of a process have used, in seconds, as `process.cpuUsage` tells. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, with whatever characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Its resident memory, in MB. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) / 1024
}

/**
 * Tells, whenever it is called, how much of this machine's processors has gone to other machines on the
 * same hardware since now, from 0 to 1; always 0 on hardware of its own.
 */
export function stolenShare(): () => number {
  const before = cpuTicks()
  return () => {
    const now = cpuTicks()
    return (now.stolen - before.stolen) / Math.max(1, now.all - before.all)
  }
}

/** Of all processors since the start of the machine. The eighth number is what was stolen; see proc(5). */
function cpuTicks(): { readonly all: number; readonly stolen: number } {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 }
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const ticks = line.split(/\s+/).slice(1, 9).map(Number)
  return { all: ticks.reduce((sum, one) => sum + one, 0), stolen: ticks[7] ?? 0 }
}
