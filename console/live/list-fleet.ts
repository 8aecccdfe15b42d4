import { signal, type ReadonlySignal } from '@preact/signals'
import { toFailure, type ApiFailure } from '../core/failure.ts'
import { MOST_DEVICES, type Fleet } from '../core/fleet.ts'
import type { ApiDevice } from '../core/live-device.ts'

/** Reads the lists of a fleet, and reports their state. */
type FleetLister = {
  /**
   * Whether a list has been read at all: only then does an empty fleet mean that there are no
   * devices.
   */
  readonly isListed: ReadonlySignal<boolean>
  /** Whether the list that belongs to the open stream has been read. */
  readonly isCurrent: ReadonlySignal<boolean>
  /** The reason why the last attempt to read the list failed; retried automatically. */
  readonly failure: ReadonlySignal<ApiFailure | undefined>
  /** Whether there are more devices than the page shows. */
  readonly isCut: ReadonlySignal<boolean>
  /**
   * Reads the latest devices before the stream is open. Changes between the two are not missed: the
   * list is read again once the stream is open.
   */
  readAhead(): void
  /**
   * Since its opening number `since`, the stream has missed nothing: reads the list, unless it was
   * read for that opening.
   */
  listFor(since: number): void
  /** Stops reading after the stream is lost: the list would not belong to the next stream. */
  stop(): void
  /** Retries a failed read immediately. */
  readonly retry: () => void
  /** Trims the fleet once the stream has added many devices. */
  trim(): void
  /** Ends all reading and forgets all devices. */
  close(): void
}

type DevicePage = { readonly items: readonly ApiDevice[]; readonly nextCursor: string | null }

const RETRY_MS = 3_000
const LONGEST_RETRY_MS = 60_000
/** Gaps may follow each other, and each requires a new list. */
const LIST_EVERY_MS = 30_000
/** Devices of the stream beyond `MOST_DEVICES` before the fleet is trimmed. */
const SPARE = 1_000

export function listFleet({
  fleet,
  readPage,
  serverNow,
  onChange,
  retryMs: firstRetryMs = RETRY_MS,
  listEveryMs = LIST_EVERY_MS,
}: {
  readonly fleet: Fleet
  /** Reads a page of the latest devices. */
  readonly readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<DevicePage>
  readonly serverNow: () => number
  readonly onChange: () => void
  readonly retryMs?: number
  readonly listEveryMs?: number
}): FleetLister {
  const isListed = signal(false)
  const isCurrent = signal(false)
  const failure = signal<ApiFailure | undefined>(undefined)
  const isCut = signal(false)
  let ahead: AbortController | undefined
  let reading: AbortController | undefined
  /** The openings of the stream that the last list, and the one being read, belong to. */
  let listedSince = 0
  let wantedSince = 0
  let listedAt = 0
  let endPause: (() => void) | undefined

  function handleFailure(thrown: unknown): void {
    failure.value = toFailure(thrown)
  }

  async function readFirst(ending: AbortSignal): Promise<void> {
    const list = fleet.list()
    try {
      const { items } = await readPage(undefined, ending)
      if (ending.aborted) return
      list.page(items, serverNow())
      failure.value = undefined
      onChange()
    } catch (thrown) {
      if (!ending.aborted) handleFailure(thrown)
    }
  }

  /** Retries the whole list until it succeeds or the stream is lost. */
  async function readUntilRead(ending: AbortSignal, waitMs: number): Promise<void> {
    let retryMs = firstRetryMs
    if (waitMs > 0) await pause(waitMs)
    while (!ending.aborted) {
      try {
        listedAt = Date.now()
        await readAll(ending)
        if (ending.aborted) return
        listedSince = wantedSince
        failure.value = undefined
        isCurrent.value = true
        return
      } catch (thrown) {
        if (ending.aborted) return
        handleFailure(thrown)
        await pause(Math.max(retryMs, (failure.value?.retryAt ?? 0) - Date.now()))
        retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2)
      }
    }
  }

  async function readAll(ending: AbortSignal): Promise<void> {
    const list = fleet.list()
    let cursor: string | undefined
    let read = 0
    do {
      const { items, nextCursor } = await readPage(cursor, ending)
      if (ending.aborted) return
      // A list read before the stream was open must not be applied after this one.
      ahead?.abort()
      list.page(items, serverNow())
      read += items.length
      cursor = nextCursor ?? undefined
      onChange()
    } while (cursor !== undefined && read < MOST_DEVICES)
    isCut.value = cursor !== undefined
    // The stream knows about a device that has reported since and so moved to the front, past the
    // pages already read.
    list.end()
    isListed.value = true
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  function stop(): void {
    reading?.abort()
    endPause?.()
  }

  function readAhead(): void {
    ahead = new AbortController()
    readFirst(ahead.signal).catch(handleFailure)
  }

  return {
    isListed,
    isCurrent,
    failure,
    isCut,
    readAhead,
    listFor(since) {
      isCurrent.value = since === listedSince
      const isUnderWay = reading?.signal.aborted === false
      if (isCurrent.value || (isUnderWay && since === wantedSince)) return
      stop()
      wantedSince = since
      reading = new AbortController()
      const waitMs = isUnderWay ? Math.max(0, listedAt + listEveryMs - Date.now()) : 0
      readUntilRead(reading.signal, waitMs).catch(handleFailure)
    },
    stop,
    retry() {
      if (reading?.signal.aborted === false) endPause?.()
      else readAhead()
    },
    trim() {
      if (fleet.devices.size <= MOST_DEVICES + SPARE) return
      fleet.trim(MOST_DEVICES)
      isCut.value = true
    },
    close() {
      ahead?.abort()
      stop()
      fleet.devices.clear()
      isListed.value = false
      listedSince = 0
    },
  }
}
