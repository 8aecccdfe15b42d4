import { setTimeout as pause } from 'node:timers/promises'
import { LoadConnection, type LoadAnswer } from './load-connection.ts'
import { requestMaker, type LoadTarget } from './requests.ts'
import { LoadTally, type Window } from './tally.ts'

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

/**
 * Sends requests. At a fixed rate, latency counts from the time at which a request was due: a
 * service that stops for a moment is charged for all requests due meanwhile. `onAnswer` is called
 * with each 200 to them.
 */
export async function sendLoad(
  target: LoadTarget,
  { connections, perSecond, ...times }: LoadPlan,
  onAnswer: (answer: LoadAnswer) => void = () => undefined,
): Promise<Window> {
  const { hostname: host, port } = new URL(target.url)
  const open = await Promise.all(
    Array.from({ length: connections }, () => LoadConnection.open({ host, port: Number(port) })),
  )
  const { keys = [target.key] } = target
  const makers = keys.map((key) => requestMaker({ ...target, key }))
  const make = new Map(open.map((one, at) => [one, makers[at % makers.length]!]))
  const sending = {
    ...times,
    open,
    make: (connection: LoadConnection) => make.get(connection)!(),
    tally: new LoadTally(target.batch),
  }
  try {
    await (perSecond === undefined ? saturate(sending) : pace({ ...sending, perSecond, onAnswer }))
    return sending.tally.read()
  } finally {
    for (const connection of open) connection.close()
  }
}

type Sending = Pick<LoadPlan, 'seconds' | 'leadInSeconds'> & {
  readonly open: readonly LoadConnection[]
  /** The next request of a connection. */
  readonly make: (connection: LoadConnection) => string
  readonly tally: LoadTally
}

async function saturate({ open, make, tally, seconds }: Sending): Promise<void> {
  const end = performance.now() + seconds * 1000
  await Promise.all(open.map((connection) => untilTheEnd(connection)))

  function untilTheEnd(connection: LoadConnection): Promise<void> {
    return new Promise((resolve) => {
      let sentAt = 0
      const answered = (answer: LoadAnswer | undefined) => {
        tally.count(answer, sentAt)
        next()
      }
      const next = () => {
        if (performance.now() >= end || connection.closed) return resolve()
        sentAt = performance.now()
        connection.send(make(connection), answered)
      }
      next()
    })
  }
}

async function pace({
  open,
  make,
  tally,
  seconds,
  leadInSeconds = 0,
  perSecond,
  onAnswer,
}: Sending & { perSecond: number; onAnswer: (answer: LoadAnswer) => void }): Promise<void> {
  const idle = [...open]
  const due: number[] = []
  const total = Math.floor(perSecond * (leadInSeconds + seconds))
  const begin = performance.now()
  const timedFrom = begin + leadInSeconds * 1000
  let planned = 0
  let underWay = 0

  const send = (connection: LoadConnection, dueAt: number) => {
    underWay += 1
    connection.send(make(connection), (answer) => {
      underWay -= 1
      tally.count(answer, dueAt >= timedFrom ? dueAt : undefined)
      if (answer?.status === 200) onAnswer(answer)
      const waiting = due.shift()
      if (waiting === undefined) idle.push(connection)
      else send(connection, waiting)
    })
  }
  while (planned < total || underWay > 0) {
    const now = performance.now()
    for (; planned < total; planned += 1) {
      const dueAt = begin + (planned * 1000) / perSecond
      if (dueAt > now) break
      // In turn: the service closes a connection that is idle for some seconds.
      const connection = idle.shift()
      if (connection === undefined) due.push(dueAt)
      else send(connection, dueAt)
    }
    await pause(1)
  }
}
