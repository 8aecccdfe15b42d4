import type { LoadAnswer } from './load-connection.ts'
import { percentiles, type Percentiles } from './percentiles.ts'

/** The outcomes of the requests of one window. */
export type Window = {
  /** From the first request to the last answer. */
  readonly seconds: number
  /** Acknowledged reports: each must be stored. */
  readonly acknowledged: number
  readonly answers: number
  /** Requests with any other outcome, by status; `none` if no answer came. */
  readonly failed: Readonly<Record<string, number>>
  /** Milliseconds. */
  readonly latency: Percentiles
  /** The load generator's own CPU time as a share of one core: near 1 it is the bottleneck. */
  readonly generatorCpu: number
}

/** The reasons why a window makes the figures void; `sent`: its requests. */
export function faultsOf(sent: string, { failed }: Window): string[] {
  return Object.entries(failed).map(
    ([status, times]) => `${sent}: ${times} answers with status ${status}`,
  )
}

/** Counts answers and their latencies from its creation to `read`. */
export class LoadTally {
  readonly #latencies: number[] = []
  readonly #failed: Record<string, number> = {}
  readonly #begin = performance.now()
  readonly #cpu = process.cpuUsage()
  #acknowledged = 0
  #answers = 0

  readonly #batch: number

  constructor(batch: number) {
    this.#batch = batch
  }

  /** `since`: when the request was sent, or should have been; undefined if it is not timed. */
  count(answer: LoadAnswer | undefined, since: number | undefined): void {
    if (answer === undefined || answer.status !== 200) {
      const status = answer === undefined ? 'none' : String(answer.status)
      this.#failed[status] = (this.#failed[status] ?? 0) + 1
      return
    }
    if (since !== undefined) this.#latencies.push(performance.now() - since)
    this.#answers += 1
    this.#acknowledged += this.#batch === 1 ? 1 : acceptedOf(answer.body, this.#batch)
  }

  read(): Window {
    const seconds = (performance.now() - this.#begin) / 1000
    const { user, system } = process.cpuUsage(this.#cpu)
    return {
      seconds,
      acknowledged: this.#acknowledged,
      answers: this.#answers,
      failed: this.#failed,
      latency: percentiles(this.#latencies),
      generatorCpu: (user + system) / 1e6 / seconds,
    }
  }
}

/** Answers to apps contain no counts; whether all reports are stored is checked at the end. */
function acceptedOf(body: string, batch: number): number {
  if (body === '{"result":"ok"}') return batch
  return Number(/"accepted":(\d+)/.exec(body)?.[1] ?? 0)
}
