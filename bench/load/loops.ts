import { setTimeout as pause } from 'node:timers/promises'
import { Connection, type Answer } from './connection.ts'
import { requestMaker, type Target } from './requests.ts'
import { Tally, type Window } from './tally.ts'

/**
 * Sends as many requests as the service can take: each connection sends the next one when one is
 * answered.
 */
export async function saturate(
  target: Target,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Window> {
  return over(target, connections, async (open, make) => {
    const tally = new Tally(target.batch)
    const end = performance.now() + seconds * 1000
    await Promise.all(open.map((connection) => untilTheEnd(connection)))
    return tally.read()

    function untilTheEnd(connection: Connection): Promise<void> {
      return new Promise((resolve) => {
        let sentAt = 0
        const answered = (answer: Answer | undefined) => {
          tally.count(answer, sentAt)
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
  })
}

/**
 * Sends requests at a fixed rate, however long the answers take. Latency counts from the time at
 * which a request was due: a service that stops for a moment is charged for all requests due
 * meanwhile.
 */
export async function pace(
  target: Target,
  {
    connections,
    seconds,
    perSecond,
    leadInSeconds = 0,
    onAnswer = () => undefined,
  }: {
    connections: number
    seconds: number
    perSecond: number
    /** Time at the same rate before the `seconds`; its answers count, their latencies do not. */
    leadInSeconds?: number
    /** Called with each 200. */
    onAnswer?: (answer: Answer) => void
  },
): Promise<Window> {
  return over(target, connections, async (open, make) => {
    const tally = new Tally(target.batch)
    const idle = [...open]
    const due: number[] = []
    const total = Math.floor(perSecond * (leadInSeconds + seconds))
    const begin = performance.now()
    const timedFrom = begin + leadInSeconds * 1000
    let planned = 0
    let underWay = 0

    const send = (connection: Connection, dueAt: number) => {
      underWay += 1
      connection.send(make(), (answer) => {
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
    return tally.read()
  })
}

async function over(
  target: Target,
  connections: number,
  work: (open: Connection[], make: () => string) => Promise<Window>,
): Promise<Window> {
  const { hostname: host, port } = new URL(target.url)
  const open = await Promise.all(
    Array.from({ length: connections }, () => Connection.open({ host, port: Number(port) })),
  )
  try {
    return await work(open, requestMaker(target))
  } finally {
    for (const connection of open) connection.close()
  }
}
