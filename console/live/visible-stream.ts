import { openStream, RESUME_MS } from './open-stream.ts'
import { addressOf } from '../core/address.ts'

/**
 * The state of the account's stream. `opening` counts how often it was opened, `wholeSince` is the
 * opening since which no event with a mark was missed.
 */
export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly opening: number; readonly wholeSince: number }
  | { readonly kind: 'lost'; readonly since: number }

export type AccountEvent = { readonly name: string; readonly data: string }

const EVENTS = ['position', 'device-status', 'rejection', 'device-erased', 'fact']

/**
 * Keeps the account's stream open while the tab is visible: a browser opens six connections to a
 * server, and hidden tabs need none. A tab that is shown again resumes its stream.
 */
export function streamWhileVisible({
  onEvents,
  onConnection,
  onUnauthorized,
}: {
  readonly onEvents: (events: readonly AccountEvent[]) => void
  readonly onConnection: (connection: StreamState) => void
  /** Resolves with whether to continue. */
  readonly onUnauthorized: () => Promise<boolean>
}): { close(): void } {
  let connection: StreamState = { kind: 'connecting' }
  let stream: { close(): void } | undefined
  let openings = 0
  let wholeSince = 0
  /** The mark of the last event, and when it arrived. */
  let mark = ''
  let heardAt = 0

  function become(next: StreamState): void {
    connection = next
    onConnection(next)
  }

  function open(): void {
    const resumes = mark !== '' && Date.now() - heardAt < RESUME_MS
    if (!resumes && connection.kind !== 'lost') become({ kind: 'connecting' })
    stream = openStream({
      url: addressOf(`/api/v1/stream?events=${EVENTS.join(',')}`),
      resumeAfter: resumes ? mark : '',
      onOpen({ isResumed }) {
        openings += 1
        if (!isResumed) wholeSince = openings
        become({ kind: 'open', opening: openings, wholeSince })
      },
      onEvents(events) {
        heardAt = Date.now()
        mark = events.at(-1)?.id || mark
        onEvents(events.filter(({ name }) => EVENTS.includes(name)))
        if (events.some(({ name }) => name === 'gap')) missed()
      },
      onLost() {
        if (connection.kind !== 'lost') become({ kind: 'lost', since: Date.now() })
      },
      onUnauthorized,
    })
  }

  function missed(): void {
    openings += 1
    wholeSince = openings
    if (connection.kind === 'open') become({ ...connection, wholeSince })
  }

  function hide(): void {
    stream?.close()
    stream = undefined
  }

  function followVisibility(): void {
    if (document.hidden) hide()
    else if (stream === undefined) open()
  }

  onConnection(connection)
  followVisibility()
  document.addEventListener('visibilitychange', followVisibility)
  addEventListener('pagehide', hide)

  return {
    close() {
      document.removeEventListener('visibilitychange', followVisibility)
      removeEventListener('pagehide', hide)
      hide()
    },
  }
}
