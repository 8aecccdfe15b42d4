import { electByLock } from './elect-by-lock.ts'
import { elect, type Election, type ElectionMessage } from './elect.ts'
import { openStream, RESUME_MS } from './open-stream.ts'
import { addressOf } from '../core/address.ts'

/**
 * The state of the one stream of all tabs. `opening` identifies each opening of the stream,
 * `wholeSince` the opening since which no event with a mark was missed.
 */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly opening: string; readonly wholeSince: string }
  | { readonly kind: 'lost'; readonly since: number }

export type ToldEvent = { readonly name: string; readonly data: string }

/** `id`: the mark of the last event. */
type Events = { readonly events: readonly ToldEvent[]; readonly id: string }
type Message =
  ElectionMessage | Events | { readonly connection: Connection } | { readonly ask: 'connection' }

const EVENTS = ['position', 'device-status', 'rejection', 'device-erased']

/**
 * The account's stream, opened by one visible tab and passed on to the others: a browser opens six
 * connections to a server, so the seventh tab would wait for ever. If no tab is visible, no stream
 * is open.
 */
export function shareStream({
  operatorId,
  onEvents,
  onConnection,
  onUnauthorized,
}: {
  operatorId: string
  onEvents: (events: readonly ToldEvent[]) => void
  onConnection: (connection: Connection) => void
  /** Resolves with whether to continue. */
  onUnauthorized: () => Promise<boolean>
}): { close(): void } {
  // Another operator's tabs, in the moments before they reload, use another channel.
  const channel = new BroadcastChannel(`gps-console-stream ${operatorId}`)
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  let connection: Connection = { kind: 'connecting' }
  let stream: { close(): void } | undefined
  let election: Election | undefined
  let openings = 0
  let wholeSince: string | undefined
  /** The mark of the last event that arrived in any tab, and when. */
  let mark = ''
  let heardAt = 0

  function learn(next: Connection): void {
    connection = next
    if (next.kind === 'open') wholeSince = next.wholeSince
    onConnection(next)
  }

  function tell(next: Connection): void {
    channel.postMessage({ connection: next } satisfies Message)
    learn(next)
  }

  function opened({ isWhole }: { isWhole: boolean }): void {
    openings += 1
    const opening = `${id} ${openings}`
    tell({ kind: 'open', opening, wholeSince: (isWhole ? wholeSince : undefined) ?? opening })
  }

  function missed(): void {
    openings += 1
    if (connection.kind === 'open') tell({ ...connection, wholeSince: `${id} ${openings}` })
  }

  function take({ events, id: last }: Events): void {
    heardAt = Date.now()
    if (last !== '') mark = last
    onEvents(events)
  }

  function lead(): void {
    const isFresh = wholeSince !== undefined && Date.now() - heardAt < RESUME_MS
    if (!isFresh && connection.kind !== 'lost') tell({ kind: 'connecting' })
    stream = openStream({
      url: addressOf(`/api/v1/stream?events=${EVENTS.join(',')}`),
      resumeAfter: isFresh ? mark : '',
      onOpen: ({ isResumed }) => opened({ isWhole: isResumed }),
      onEvents(came) {
        const events = came.flatMap(({ name, data }) =>
          EVENTS.includes(name) ? { name, data } : [],
        )
        // Sent even for a heartbeat alone: its mark advances the marks of the other tabs.
        const message = { events, id: came.at(-1)?.id ?? '' }
        channel.postMessage(message satisfies Message)
        take(message)
        if (came.some(({ name }) => name === 'gap')) missed()
      },
      onLost() {
        if (connection.kind !== 'lost') tell({ kind: 'lost', since: Date.now() })
      },
      onUnauthorized,
    })
  }

  function stepDown(): void {
    stream?.close()
    stream = undefined
  }

  function compete(): void {
    if (document.hidden) return withdraw()
    const candidate = { onLead: lead, onStepDown: stepDown }
    election ??=
      isSecureContext && 'locks' in navigator
        ? electByLock({ name: 'gps-console-stream', ...candidate })
        : elect({ id, say: (message) => channel.postMessage(message), ...candidate })
  }

  function withdraw(): void {
    election?.leave()
    election = undefined
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('election' in data) return election?.hear(data)
    if ('ask' in data) {
      if (stream === undefined) return
      channel.postMessage({ connection } satisfies Message)
      // If that tab soon leads, it resumes from here, too.
      channel.postMessage({ events: [], id: mark } satisfies Message)
      return
    }
    if (stream !== undefined) return
    if ('connection' in data) learn(data.connection)
    else take(data)
  }
  onConnection(connection)
  channel.postMessage({ ask: 'connection' } satisfies Message)
  compete()
  document.addEventListener('visibilitychange', compete)
  addEventListener('pagehide', withdraw)

  return {
    close() {
      document.removeEventListener('visibilitychange', compete)
      removeEventListener('pagehide', withdraw)
      withdraw()
      channel.close()
    },
  }
}
