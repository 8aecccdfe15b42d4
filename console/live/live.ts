import { computed, effect, signal } from '@preact/signals'
import { api, serverNow } from '../api/client.ts'
import { toFailure, type ApiFailure } from '../core/failure.ts'
import { me } from './session.ts'
import { Fleet, MOST_DEVICES } from '../core/fleet.ts'
import type { ApiDevice, ApiRecord } from '../core/live-device.ts'
import { shareStream, type Connection } from './shared-stream.ts'

/**
 * The states that the bar shows. `catching up`: the stream is open, and the list that goes with it
 * is being read.
 */
export type LiveState =
  | { readonly kind: 'connecting' | 'catching up' | 'live' }
  | { readonly kind: 'lost'; readonly since: number }

export const liveState = signal<LiveState>({ kind: 'connecting' })

/** All devices of the account; components that show them read them again on `changed`. */
export const fleet = new Fleet()

/** Counts changes of the fleet, at most ten a second and only while the page is visible. */
export const changed = signal(0)

/** Like `changed`, for text that people read: at most twice a second. */
export const changedWords = signal(0)

/** For components that read the fleet: renders them again when its text changes. */
export function watchWords(): number {
  return changedWords.value
}

/**
 * Whether a list has been read at all: only then does an empty fleet mean that there are no
 * devices.
 */
export const isListed = signal(false)

/** Why the last attempt to read the list failed; it is retried automatically. */
export const listFailure = signal<ApiFailure | undefined>(undefined)

/** Whether there are more devices than the page shows. */
export const isCut = signal(false)

const PAINT_EVERY_MS = 100
const WORDS_EVERY_MS = 500
const AGE_EVERY_MS = 1_000
const PAGE = 1_000
const FIRST_PAGE = { limit: PAGE, sort: '-lastSeenAt' } as const
const RETRY_MS = 3_000
const LONGEST_RETRY_MS = 60_000
/** A gap may follow a gap, and each of them requires a list. */
const LIST_EVERY_MS = 30_000

type Listener = (name: string, data: unknown) => void
const listeners = new Set<Listener>()

/**
 * Calls `listener` with each event of the stream until the returned function is called, and calls
 * `opened` each time the stream has been opened: earlier statuses and rejections may have been
 * missed.
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
    const stream = shareStream({ onEvents: take, onConnection: connected })
    readAhead().catch(failed)
    return () => {
      stream.close()
      ahead?.abort()
      listing?.abort()
      fleet.devices.clear()
      isListed.value = false
      opening = ''
      listedSince = ''
    }
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) returns.value += 1
  })
  setInterval(() => {
    if (document.hidden) return
    fleet.age(serverNow())
    trim()
    markChanged()
  }, AGE_EVERY_MS)
  document.addEventListener('visibilitychange', markChanged)
}

let ahead: AbortController | undefined

/**
 * Shows the latest devices before the stream is open. Changes between the two are not missed: the
 * list is read again once the stream is open.
 */
async function readAhead(): Promise<void> {
  const reading = new AbortController()
  ahead = reading
  const list = fleet.list()
  try {
    const { items } = await api.get('/devices', { query: FIRST_PAGE, signal: reading.signal })
    list.page(items, serverNow())
    listFailure.value = undefined
    markChanged()
  } catch (thrown) {
    if (!reading.signal.aborted) failed(thrown)
  }
}

function failed(thrown: unknown): void {
  listFailure.value = toFailure(thrown)
}

/** Retries at once to read a list that could not be read. */
export function retryList(): void {
  if (listing?.signal.aborted !== false) readAhead().catch(failed)
  else endPause?.()
}

/** The connection as last seen here, and the `wholeSince` that the list belongs to. */
let opening = ''
let wholeSince = ''
let listedSince = ''
let listing: AbortController | undefined
let endPause: (() => void) | undefined

function connected(connection: Connection): void {
  switch (connection.kind) {
    case 'connecting':
    case 'lost':
      listing?.abort()
      opening = ''
      liveState.value = connection
      return
    case 'open':
      if (connection.wholeSince !== wholeSince || opening === '') follow(connection.wholeSince)
      if (connection.opening === opening) return
      opening = connection.opening
      for (const listener of listeners) listener('opened', {})
  }
}

/** The stream is open: reads the list unless the current one belongs to it. */
function follow(since: string): void {
  wholeSince = since
  if (since === listedSince) liveState.value = { kind: 'live' }
  else readList(since).catch(failed)
}

/** The stream brings new devices: the fleet is trimmed only after many. */
function trim(): void {
  if (fleet.devices.size <= MOST_DEVICES + PAGE) return
  fleet.trim(MOST_DEVICES)
  isCut.value = true
}

/** Reads the whole list again and again until it succeeds or the stream is lost. */
async function readList(since: string): Promise<void> {
  const isRepeated = listing?.signal.aborted === false
  listing?.abort()
  const reading = new AbortController()
  listing = reading
  const { signal } = reading
  liveState.value = { kind: 'catching up' }
  let retryMs = RETRY_MS
  if (isRepeated) await pause(Math.max(0, listedAt + LIST_EVERY_MS - Date.now()))
  while (!signal.aborted) {
    try {
      listedAt = Date.now()
      await readListOnce(signal)
      if (signal.aborted) return
      listedSince = since
      listFailure.value = undefined
      liveState.value = { kind: 'live' }
      return
    } catch (thrown) {
      if (signal.aborted) return
      failed(thrown)
      await pause(Math.max(retryMs, (listFailure.value?.retryAt ?? 0) - Date.now()))
      retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2)
    }
  }
}

let listedAt = 0

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    endPause = resolve
    setTimeout(resolve, ms)
  })
}

async function readListOnce(signal: AbortSignal): Promise<void> {
  const list = fleet.list()
  let cursor: string | undefined
  let read = 0
  do {
    const query = { ...FIRST_PAGE, ...(cursor && { cursor }) }
    const { items, nextCursor } = await api.get('/devices', { query, signal })
    // A list read before the stream was open must not be applied after this one.
    ahead?.abort()
    list.page(items, serverNow())
    read += items.length
    cursor = nextCursor ?? undefined
    markChanged()
  } while (cursor !== undefined && read < MOST_DEVICES)
  isCut.value = cursor !== undefined
  // The stream knows a device that reported meanwhile and so moved to the front, past the pages
  // already read.
  list.end()
  isListed.value = true
}

function take(events: readonly { name: string; data: string }[]): void {
  const now = serverNow()
  for (const { name, data } of events) {
    const value: unknown = JSON.parse(data)
    if (name === 'position') fleet.position(value as ApiRecord, now)
    else if (name === 'device-status') fleet.status(value as ApiDevice, now)
    else if (name === 'device-erased') fleet.erased((value as { deviceId: string }).deviceId)
    for (const listener of listeners) listener(name, value)
  }
  if (events.length > 0) markChanged()
}

let painting: ReturnType<typeof setTimeout> | undefined
let paintedAt = 0
let telling: ReturnType<typeof setTimeout> | undefined
let wordsAt = -Infinity

/** Announces a change of the fleet: soon, and once for many changes. */
export function markChanged(): void {
  if (painting !== undefined || document.hidden) return
  const waitMs = Math.max(0, paintedAt + PAINT_EVERY_MS - performance.now())
  painting = setTimeout(() => {
    painting = undefined
    paintedAt = performance.now()
    changed.value += 1
    telling ??= setTimeout(
      () => {
        telling = undefined
        wordsAt = performance.now()
        changedWords.value += 1
      },
      Math.max(0, wordsAt + WORDS_EVERY_MS - paintedAt),
    )
  }, waitMs)
}
