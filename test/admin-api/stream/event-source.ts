import { get, type IncomingMessage } from 'node:http'
import { eventually } from '../../eventually.ts'

export type ReceivedEvent = {
  readonly event: string
  /** The last id the client knew when it was dispatched. */
  readonly id: string
  /** Whether the event had its own id. */
  readonly hasId: boolean
  readonly data: Record<string, unknown>
}

export type EventSource = Awaited<ReturnType<typeof openEventSource>>

/**
 * A client of Server-Sent Events that takes nothing but what this service should send: it throws at
 * fields, line ends and comments that another client might overlook. Heartbeats count as events too.
 */
export async function openEventSource(url: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
  const parser = eventStreamParser()
  let ended = false
  let body = ''
  let pieces = 0
  response.setEncoding('utf8')
  response.on('error', () => undefined)
  response.on('close', () => (ended = true))
  response.on('data', (text: string) => {
    pieces += 1
    if (response.statusCode === 200) parser.take(text)
    else body += text
  })

  return {
    status: response.statusCode,
    headers: response.headers,
    events: parser.events,
    heartbeats: parser.heartbeats,
    lastEventId: () => parser.lastEventId(),
    retry: () => parser.retry(),
    /** In how many pieces its text has come. */
    pieces: () => pieces,
    hasEnded: () => ended,
    /** Whether the response ended properly, and was not cut. */
    isComplete: () => response.complete,
    error: async () => {
      await eventually(() => ended)
      return JSON.parse(body) as Record<string, unknown>
    },
    of: (kind: string) => parser.events.filter(({ event }) => event === kind),
    recordIds: () => parser.events.flatMap(({ data }) => data['recordId'] ?? []) as string[],
    pause: () => response.pause(),
    resume: () => response.resume(),
    /** Reads this much more text, and pauses again. */
    take(length: number) {
      let left = length
      response.on('data', function count(text: string) {
        left -= text.length
        if (left <= 0) response.off('data', count).pause()
      })
      response.resume()
    },
    close: () => response.destroy(),
  }
}

/** Each received change of a device's status, as `tug online`. */
export function statuses(source: EventSource) {
  return source
    .of('device-status')
    .map(({ data }) => `${String(data['deviceId'])} ${String(data['status'])}`)
}

/** WHATWG HTML, section 9.2.6, as far as this service uses it. */
export function eventStreamParser() {
  const events: ReceivedEvent[] = []
  const heartbeats: ReceivedEvent[] = []
  let rest = ''
  let lastEventId = ''
  let retry: number | undefined
  let event: string | undefined
  let data: string | undefined
  let hasId = false

  function line(text: string): void {
    if (text === '') return dispatch()
    const [, field, value] = /^(event|id|data|retry): (.+)$/s.exec(text) ?? []
    if (field === undefined || value === undefined) throw new Error(`unexpected line: ${text}`)
    if (field === 'event') event = value
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    if (field === 'retry') retry = Number(value)
    if (field === 'id') {
      lastEventId = value
      hasId = true
    }
  }

  function dispatch(): void {
    if (data !== undefined) {
      if (event === undefined) throw new Error('an event without a name')
      const parsed = JSON.parse(data) as Record<string, unknown>
      const received = { event, id: lastEventId, hasId, data: parsed }
      if (event === 'heartbeat') heartbeats.push(received)
      else events.push(received)
    } else if (event !== undefined) throw new Error('an event without data')
    event = data = undefined
    hasId = false
  }

  return {
    events,
    heartbeats,
    lastEventId: () => lastEventId,
    retry: () => retry,
    take(text: string) {
      if (text.includes('\r')) throw new Error('a carriage return in the stream')
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const one of lines) line(one)
    },
  }
}
