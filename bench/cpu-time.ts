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
