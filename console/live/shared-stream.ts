import { askToSignIn, me } from '../api/session.ts'
import { electByLock } from './elect-by-lock.ts'
import { elect, type ElectionMessage } from './elect.ts'
import { openStream } from './open-stream.ts'

/** How the one stream of all tabs is doing. `opened` counts how often it has been opened. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly opened: string }
  | { readonly kind: 'lost'; readonly since: number }

type Told = { readonly name: string; readonly data: string }

type Message =
  | ElectionMessage
  | { readonly events: readonly Told[] }
  | { readonly connection: Connection }
  | { readonly ask: 'connection' }

const EVENTS = ['position', 'device-status', 'rejection', 'device-erased']
const LOOK_EVERY_MS = 5_000

/**
 * The account's stream, opened by one tab and passed on to the others: a browser opens six
 * connections to a server, so the seventh tab would wait for ever.
 */
export function shareStream({
  onEvents,
  onConnection,
}: {
  onEvents: (events: readonly Told[]) => void
  onConnection: (connection: Connection) => void
}): { close(): void } {
  // Tabs of another operator, in the moments before they reload, have another channel.
  const channel = new BroadcastChannel(`gps-console-stream ${me.value?.operator.id ?? ''}`)
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  let connection: Connection = { kind: 'connecting' }
  let stream: { close(): void } | undefined
  let heardAt = Date.now()

  function tell(next: Connection): void {
    connection = next
    channel.postMessage({ connection } satisfies Message)
    onConnection(connection)
  }

  function lead(): void {
    let opened = 0
    tell({ kind: 'connecting' })
    stream = openStream({
      url: `/api/v1/stream?events=${EVENTS.join(',')}`,
      onOpen() {
        opened += 1
        tell({ kind: 'open', opened: `${id} ${opened}` })
      },
      onEvents(came) {
        const events = came.flatMap(({ name, data }) =>
          EVENTS.includes(name) ? { name, data } : [],
        )
        // Also where a heartbeat is all: it tells the others that this tab is awake.
        channel.postMessage({ events } satisfies Message)
        onEvents(events)
      },
      onLost() {
        if (connection.kind !== 'lost') tell({ kind: 'lost', since: Date.now() })
      },
      onUnauthorized: askToSignIn,
    })
  }

  function stepDown(): void {
    stream?.close()
    stream = undefined
  }

  const candidate = { onLead: lead, onStepDown: stepDown }
  const election =
    isSecureContext && 'locks' in navigator
      ? electByLock({ name: 'gps-console-stream', heardAt: () => heardAt, ...candidate })
      : elect({ id, say: (message) => channel.postMessage(message), ...candidate })

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    heardAt = Date.now()
    if ('election' in data) return election.hear(data)
    if ('ask' in data) {
      if (stream !== undefined) channel.postMessage({ connection } satisfies Message)
      return
    }
    if (stream !== undefined) return
    if ('connection' in data) {
      connection = data.connection
      onConnection(connection)
    } else onEvents(data.events)
  }
  onConnection(connection)
  channel.postMessage({ ask: 'connection' } satisfies Message)

  const look = () => {
    if (!document.hidden) election.check()
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  document.addEventListener('visibilitychange', look)
  const leave = () => election.leave()
  addEventListener('pagehide', leave)

  return {
    close() {
      document.removeEventListener('visibilitychange', look)
      removeEventListener('pagehide', leave)
      clearInterval(timer)
      leave()
      channel.close()
    },
  }
}
