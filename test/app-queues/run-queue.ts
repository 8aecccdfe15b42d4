import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, App, Item } from './apps.ts'

const PAUSE_MS = 25
/** Longer than the service may take to respond. */
const GIVES_UP_AFTER_MS = 10_000

export type QueueRun = {
  readonly app: App
  readonly key: { readonly id: string; readonly key: string }
  /** Everything the app had to send. */
  readonly items: readonly Item[]
  /** Number of queued items. */
  readonly waiting: () => number
  /** The outcomes of requests that removed nothing from the queue. */
  readonly failures: readonly (number | 'no response')[]
  /** Resolves when the queue is empty, or the run is stopped. */
  readonly ended: Promise<void>
}

/**
 * Simulates an app until its queue is empty. Every `losesEvery`th response is lost, so the app
 * resends items that the service has already accepted.
 */
export function runQueue({
  app,
  key,
  items,
  url,
  losesEvery,
  released,
  signal,
}: Pick<QueueRun, 'app' | 'key' | 'items'> & {
  /**
   * The service's address; apps wait while it starts, because GPSLogger gives up after three
   * attempts.
   */
  readonly url: () => Promise<string>
  readonly losesEvery: number
  /** The app waits for this after its first request. */
  readonly released: Promise<void>
  readonly signal: AbortSignal
}): QueueRun {
  const queue = [...items]
  const failures: (number | 'no response')[] = []
  const { size, after } = app.queue()
  let requests = 0
  return { app, key, items, failures, waiting: () => queue.length, ended: run() }

  async function run(): Promise<void> {
    while (queue.length > 0 && !signal.aborted) {
      const answer = await send(queue.slice(0, size()))
      const gone = after(answer)
      queue.splice(0, gone)
      if (gone > 0) {
        await released
        await pause(PAUSE_MS)
        continue
      }
      failures.push(answer?.status ?? 'no response')
      await pause(app.triesAgainAfterMs)
    }
  }

  async function send(sent: readonly Item[]): Promise<Answer> {
    requests += 1
    const { method = 'POST', path, headers = {}, body } = app.request(sent, key.key)
    const to = (await url()) + path
    try {
      const answer = await fetch(to, {
        method,
        headers,
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(GIVES_UP_AFTER_MS),
      })
      const text = await answer.text()
      return requests % losesEvery === 0 ? undefined : { status: answer.status, body: text }
    } catch {
      return undefined
    }
  }
}

/**
 * Items recorded by an app, enough for this many requests: points, with some impossible points and
 * heartbeats among them, then heartbeats.
 */
export function recorded(app: App, requests: number, now: number): Item[] {
  const size = app.queue().size()
  const count = requests * size
  const items: Item[] = []
  for (let number = 0; number < count; number += 1) {
    const longitude = Math.round((10 + number / 1e4) * 1e4) / 1e4
    const at = now - (count - number) * 60_000
    items.push({ kind: 'point', latitude: 47 + number / 1e4, longitude, at })
    if (number % 9 !== 4) continue
    const odd = { kind: 'point', latitude: 47, longitude: longitude + 50, at } as const
    const impossible: Item[] = [
      { ...odd, latitude: 95 },
      { ...odd, at: Date.UTC(1999, 0, 1) + number * 1000 },
      { ...odd, at: now + 48 * 3_600_000 + number * 1000 },
      { kind: 'encrypted', mark: `unreadable-${number}` },
    ]
    const item = impossible[Math.floor(number / 9) % 4]!
    items.push(app.has.includes(item.kind) ? item : impossible[0]!)
    if (app.has.includes('heartbeat')) items.push({ kind: 'heartbeat' })
  }
  // Enough to fill a request.
  const last = app.has.includes('heartbeat') ? size : 0
  return [...items, ...Array.from({ length: last }, () => ({ kind: 'heartbeat' }) as const)]
}

/** The text that identifies an impossible item in its rejection; undefined for possible items. */
export function markOf(item: Item): string | undefined {
  if (item.kind === 'encrypted') return item.mark
  return item.kind === 'point' && item.longitude > 50 ? String(item.longitude) : undefined
}
