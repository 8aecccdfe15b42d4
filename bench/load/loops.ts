import { setTimeout as pause } from 'node:timers/promises'
import { ownCpuMicros } from '../cpu-time.ts'
import { percentiles, type Percentiles } from '../median.ts'
import { LoadConnection, type LoadAnswer } from './load-connection.ts'
import { requestMaker, type LoadTarget } from './requests.ts'

export type LoadPlan = {
  readonly connections: number
  readonly seconds: number
  /**
   * The rate of requests, however long the answers take. Without it there are as many as the
   * service can take: each connection sends the next one when one is answered.
   */
  readonly perSecond?: number
  /** Time at the same rate before the `seconds`; its answers count, their latencies do not. */
  readonly leadInSeconds?: number
}

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

/**
 * Sends requests. At a fixed rate, latency counts from the time at which a request was due: a
 * service that stops for a moment is charged for all requests due meanwhile. `onAnswer` is called
 * with each 200 to them.
 */
export async function sendLoad(
  target: LoadTarget,
  plan: LoadPlan,
  onAnswer: (answer: LoadAnswer) => void = () => undefined,
): Promise<Window> {
  const { hostname: host, port } = new URL(target.url)
  const { keys = [target.key] } = target
  const makers = keys.map((key) => requestMaker({ ...target, key, keys }))
  const senders = await Promise.all(
    Array.from({ length: plan.connections }, async (_, at): Promise<Sender> => {
      const connection = await LoadConnection.open({ host, port: Number(port) })
      return { connection, make: makers[at % makers.length]! }
    }),
  )
  const latencies: number[] = []
  const failed: Record<string, number> = {}
  const [begin, cpu] = [performance.now(), ownCpuMicros()]
  let acknowledged = 0
  let answers = 0
  /** `since`: when the request was sent, or should have been; undefined if it is not timed. */
  const count = (answer: LoadAnswer | undefined, since: number | undefined) => {
    if (answer?.status !== 200) {
      const status = answer?.status ?? 'none'
      failed[status] = (failed[status] ?? 0) + 1
      return
    }
    if (since !== undefined) latencies.push(performance.now() - since)
    answers += 1
    acknowledged += target.batch === 1 ? 1 : acceptedOf(answer.body, target.batch)
    onAnswer(answer)
  }
  try {
    if (plan.perSecond === undefined) await saturate(senders, plan, count)
    else await pace(senders, { ...plan, perSecond: plan.perSecond }, count)
    const seconds = (performance.now() - begin) / 1000
    const generatorCpu = cpu() / 1e6 / seconds
    return { seconds, acknowledged, answers, failed, latency: percentiles(latencies), generatorCpu }
  } finally {
    for (const { connection } of senders) connection.close()
  }
}

type Sender = { readonly connection: LoadConnection; readonly make: () => string }
type Count = (answer: LoadAnswer | undefined, since: number | undefined) => void

/** Answers to apps contain no counts; whether all reports are stored is checked at the end. */
function acceptedOf(body: string, batch: number): number {
  if (body === '{"result":"ok"}') return batch
  return Number(/"accepted":(\d+)/.exec(body)?.[1] ?? 0)
}

async function saturate(
  senders: readonly Sender[],
  { seconds }: LoadPlan,
  count: Count,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  await Promise.all(senders.map(untilTheEnd))

  function untilTheEnd({ connection, make }: Sender): Promise<void> {
    return new Promise((resolve) => {
      let sentAt = 0
      const answered = (answer: LoadAnswer | undefined) => {
        count(answer, sentAt)
        next()
      }
      const next = () => {
        if (performance.now() >= end || connection.closed) return resolve()
        sentAt = performance.now()
        connection.send(make(), answered)
      }
      next()
    })
  }
}

async function pace(
  senders: readonly Sender[],
  { seconds, leadInSeconds = 0, perSecond }: LoadPlan & { readonly perSecond: number },
  count: Count,
): Promise<void> {
  const idle = [...senders]
  const due: number[] = []
  const total = Math.floor(perSecond * (leadInSeconds + seconds))
  const begin = performance.now()
  const timedFrom = begin + leadInSeconds * 1000
  let planned = 0
  let underWay = 0

  const send = (sender: Sender, dueAt: number) => {
    underWay += 1
    sender.connection.send(sender.make(), (answer) => {
      underWay -= 1
      count(answer, dueAt >= timedFrom ? dueAt : undefined)
      const waiting = due.shift()
      if (waiting === undefined) idle.push(sender)
      else send(sender, waiting)
    })
  }
  while (planned < total || underWay > 0) {
    const now = performance.now()
    for (; planned < total; planned += 1) {
      const dueAt = begin + (planned * 1000) / perSecond
      if (dueAt > now) break
      // In turn: the service closes a connection that is idle for some seconds.
      const sender = idle.shift()
      if (sender === undefined) due.push(dueAt)
      else send(sender, dueAt)
    }
    await pause(1)
  }
}
