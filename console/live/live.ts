import { computed, effect, signal, untracked } from '@preact/signals'
import { api, serverNow } from '../api/client.ts'
import { addressOf } from '../core/address.ts'
import type { ApiFact } from '../core/device-facts.ts'
import { Fleet } from '../core/fleet.ts'
import { hasReported } from '../core/listed-device.ts'
import type { ApiDevice, ApiRecord } from '../core/live-device.ts'
import { markChanged } from './announce-changes.ts'
import { listFleet } from './list-fleet.ts'
import { openStream, RESUME_MS } from './open-stream.ts'
import { askToSignIn, me } from './session.ts'

/** All devices of the account; components that show them call `watchWords`. */
export const fleet = new Fleet()

/** A small first page arrives soon; large ones keep the number of calls low. */
const FIRST_PAGE = 1_000
const PAGE = 5_000
const AGE_EVERY_MS = 1_000

/** Reads the fleet's lists, and repeats failed reads until the fleet is current. */
export const lister = listFleet({
  fleet,
  async readPage(cursor, ending) {
    const { items, nextCursor } = await api.get('/devices', {
      query: {
        limit: cursor === undefined ? FIRST_PAGE : PAGE,
        sort: '-lastSeenAt',
        ...(cursor && { cursor }),
      },
      signal: ending,
    })
    return { items: items.filter(hasReported), nextCursor }
  },
  serverNow,
  onChange: markChanged,
})

const connection = signal<StreamState>({ kind: 'connecting' })

/**
 * The states that the bar shows. `catching up`: the stream is open, and the list that goes with it
 * is being read.
 */
type LiveState =
  | { readonly kind: 'connecting' | 'catching up' | 'live' }
  | { readonly kind: 'lost'; readonly since: number }

export const liveState = computed<LiveState>(() => {
  if (connection.value.kind !== 'open') return connection.value
  return { kind: lister.isCurrent.value ? 'live' : 'catching up' }
})

type Listener = (name: string, data: unknown) => void
const listeners = new Set<Listener>()

/**
 * Calls `listener` with each event of the stream until the returned function is called, and with
 * `opened` each time the stream has been opened: earlier statuses, facts and rejections may
 * have been missed.
 */
export function onStreamEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Counts how often the browser has restored the page from its cache, with a stream long dead. */
const returns = signal(0)
const shownTo = computed(() => me.value && `${me.value.operator.id} ${returns.value}`)
let isStarted = false

/** Keeps the fleet up to date from the first call on, as long as somebody is signed in. */
export function startLive(): void {
  if (isStarted) return
  isStarted = true
  effect(() => {
    if (!shownTo.value) return undefined
    return untracked(openAccount)
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) returns.value += 1
  })
}

/** Opens everything that follows the account; the returned function closes it. */
function openAccount(): () => void {
  let opening = 0

  function applyState(next: StreamState): void {
    connection.value = next
    if (next.kind !== 'open') {
      lister.stop()
      opening = 0
      return
    }
    lister.listFor(next.wholeSince)
    if (next.opening === opening) return
    opening = next.opening
    notifyListeners('opened', {})
  }

  const stream = streamWhileVisible({
    onEvents: applyEvents,
    onConnection: applyState,
    onUnauthorized: askToSignIn,
  })
  const aging = setInterval(age, AGE_EVERY_MS)
  document.addEventListener('visibilitychange', markChanged)
  lister.readAhead()
  return () => {
    stream.close()
    clearInterval(aging)
    document.removeEventListener('visibilitychange', markChanged)
    lister.close()
  }
}

function age(): void {
  if (document.hidden) return
  fleet.age(serverNow())
  lister.trim()
  markChanged()
}

function applyEvents(events: readonly AccountEvent[]): void {
  const now = serverNow()
  for (const { name, data } of events) {
    const value: unknown = JSON.parse(data)
    if (name === 'position') fleet.position(value as ApiRecord, now)
    else if (name === 'device-status') fleet.status(value as ApiDevice, now)
    else if (name === 'fact') fleet.fact(value as ApiFact)
    else if (name === 'device-erased') fleet.erased((value as { deviceId: string }).deviceId)
    notifyListeners(name, value)
  }
  if (events.length > 0) markChanged()
}

function notifyListeners(name: string, data: unknown): void {
  for (const listener of listeners) listener(name, data)
}

/**
 * The state of the account's stream. `opening` counts how often it was opened, `wholeSince` is the
 * opening since which no event with a mark was missed.
 */
type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly opening: number; readonly wholeSince: number }
  | { readonly kind: 'lost'; readonly since: number }

type AccountEvent = { readonly name: string; readonly data: string }

const EVENTS = ['position', 'device-status', 'rejection', 'device-erased', 'fact', 'fact-handling']

/**
 * Keeps the account's stream open while the tab is visible: a browser opens six connections to a
 * server, and hidden tabs need none. A tab that is shown again resumes its stream.
 */
function streamWhileVisible({
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
        if (events.some(({ name }) => name === 'gap')) startMissing()
      },
      onLost() {
        if (connection.kind !== 'lost') become({ kind: 'lost', since: Date.now() })
      },
      onUnauthorized,
    })
  }

  function startMissing(): void {
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
