import { setTimeout as pause } from 'node:timers/promises'
import { measureCpuMicros } from '../cpu-time.ts'
import { percentiles, type Percentiles } from '../statistics.ts'
import { openConnection, type LoadAnswer, type LoadConnection } from './connection.ts'
import { requestMaker, type LoadTarget } from './requests.ts'

export type LoadPlan = {
  readonly connections: number
  readonly seconds: number
  /**
   * The rate of requests, however long the responses take. Without it, as many as the service can
   * handle: each connection sends the next request when the last one gets its response.
   */
  readonly perSecond?: number
}

/** The outcomes of the requests of one window. */
export type Window = {
  /** From the first request to the last response. */
  readonly seconds: number
  /** Acknowledged reports: each must be stored. */
  readonly acknowledged: number
  readonly answers: number
  /** Requests with any other outcome, by status; `none` without a response. */
  readonly failed: Readonly<Record<string, number>>
  /** Milliseconds. */
  readonly latency: Percentiles
  /** The load generator's own CPU time as a share of one core: near 1 it is the bottleneck. */
  readonly generatorCpu: number
}

/** Why a window makes the figures void; `sent`: its requests. */
export function faultsOf(sent: string, { failed }: Window): string[] {
  return Object.entries(failed).map(
    ([status, times]) => `${sent}: ${times} responses with status ${status}`,
  )
}

/**
 * Sends requests. At a fixed rate, latency counts from the time at which a request was due: a
 * service that pauses briefly is charged for all requests due in that time. `onAnswer` is called
 * with each 200 to them.
 */
export async function sendLoad(
  target: LoadTarget,
  plan: LoadPlan,
  onAnswer: (answer: LoadAnswer) => void = () => undefined,
): Promise<Window> {
  const make = requestMaker(target)
  const connections = await Promise.all(
    Array.from({ length: plan.connections }, () => openConnection(new URL(target.url))),
  )
  const latencies: number[] = []
  const failed: Record<string, number> = {}
  const [begin, cpu] = [performance.now(), measureCpuMicros()]
  let acknowledged = 0
  let answers = 0
  /** `since`: when the request is sent, or should have been. */
  const send: Send = (connection, since, answered) => {
    connection.send(make(), (answer) => {
      if (answer?.status === 200) {
        latencies.push(performance.now() - since)
        answers += 1
        acknowledged += target.batch === 1 ? 1 : acceptedOf(answer)
        onAnswer(answer)
      } else {
        const status = answer?.status ?? 'none'
        failed[status] = (failed[status] ?? 0) + 1
      }
      answered()
    })
  }
  try {
    const { perSecond } = plan
    if (perSecond === undefined) await saturate(connections, plan, send)
    else await pace(connections, { ...plan, perSecond }, send)
    const seconds = (performance.now() - begin) / 1000
    const generatorCpu = cpu() / 1e6 / seconds
    return { seconds, acknowledged, answers, failed, latency: percentiles(latencies), generatorCpu }
  } finally {
    for (const connection of connections) connection.close()
  }
}

type Send = (connection: LoadConnection, since: number, answered: () => void) => void

function acceptedOf({ body }: LoadAnswer): number {
  return Number(/"accepted":(\d+)/.exec(body)?.[1] ?? 0)
}

async function saturate(
  connections: readonly LoadConnection[],
  { seconds }: LoadPlan,
  send: Send,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  const untilTheEnd = (connection: LoadConnection) =>
    new Promise<void>((resolve) => {
      const next = () => {
        if (performance.now() >= end || connection.isClosed()) resolve()
        else send(connection, performance.now(), next)
      }
      next()
    })
  await Promise.all(connections.map(untilTheEnd))
}

async function pace(
  connections: readonly LoadConnection[],
  { seconds, perSecond }: LoadPlan & { readonly perSecond: number },
  send: Send,
): Promise<void> {
  // Used in turn: the service closes a connection that is idle for some seconds.
  const idle = [...connections]
  const total = Math.floor(perSecond * seconds)
  const begin = performance.now()
  const dueAt = (n: number) => begin + (n * 1000) / perSecond
  let sent = 0
  let underWay = 0

  function sendDue(): void {
    while (sent < total && dueAt(sent) <= performance.now()) {
      const connection = idle.shift()
      if (connection === undefined) return
      const since = dueAt(sent)
      sent += 1
      underWay += 1
      send(connection, since, () => {
        underWay -= 1
        idle.push(connection)
        sendDue()
      })
    }
  }
  while (sent < total || underWay > 0) {
    sendDue()
    await pause(1)
  }
}
