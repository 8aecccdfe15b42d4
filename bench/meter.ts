import type { Candidate } from './candidates/candidate.ts'
import { cpuSeconds, residentMegabytes } from './cpu-time.ts'
import type { Child } from './fork.ts'
import { faultsOf, type LoadPlan, type Window } from './load/loops.ts'
import type { LoadTarget } from './load/requests.ts'

/** A shape of load, with its name in error messages. */
export type Shape = Pick<LoadPlan, 'connections'> &
  Pick<LoadTarget, 'batch' | 'devices'> & { readonly name: string }

/** A window of load with its cost, including the work remaining after its responses. */
export type Sample = Window & { readonly cpuMicros: number; readonly residentMB: number }

export type Meter = {
  readonly candidate: Candidate
  readonly measure: (shape: Shape, load: Omit<LoadPlan, 'connections'>) => Promise<Sample>
  /** Why all measurements are void. */
  readonly faults: () => Promise<readonly string[]>
}

/**
 * Measures the cost of reports for a candidate. `reported`: how many it has acknowledged already.
 */
export function meterOf(candidate: Candidate, generator: Child, { reported = 0 } = {}): Meter {
  const { name: service, url, key, pid } = candidate
  const faults: string[] = []
  let acknowledged = reported
  return {
    candidate,
    async measure({ name, connections, ...requests }, load) {
      const before = cpuSeconds(pid)
      const target: LoadTarget = { url, key, ...requests }
      const window = await generator.ask<Window>({ ...load, connections, target })
      await candidate.settled?.()
      const cpuMicros = ((cpuSeconds(pid) - before) * 1e6) / window.acknowledged
      acknowledged += window.acknowledged
      faults.push(...faultsOf(`${service}, ${name}`, window))
      return { ...window, cpuMicros, residentMB: residentMegabytes(pid) }
    },
    async faults() {
      const stored = (await candidate.stored?.()) ?? acknowledged
      if (stored === acknowledged) return faults
      return [...faults, `${service}: ${acknowledged} reports acknowledged, ${stored} stored`]
    },
  }
}
