import { deviceStatus, FOLD_VERSION } from '../../../projector/device-status.ts'
import type { DeviceErased } from '../../../schemas/events/device-erased.ts'
import type { ApiKey } from '../../../store/keys.ts'
import type { StreamOptions } from '../../../admin-api/stream/options.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'
import { openEventSource, type EventSource } from './event-source.ts'

export type StreamHarness = Awaited<ReturnType<typeof startStreaming>>

type Opening = {
  readonly headers?: Record<string, string>
  readonly lastEventId?: string
  readonly query?: string
}

/** The admin API as in its harness, with times short enough for tests. */
export async function startStreaming(
  options: Parameters<typeof startAdmin>[0] & { stream?: Partial<StreamOptions> } = {},
) {
  const stream = {
    statusEveryMs: 10,
    rejectionsEveryMs: 10,
    factsEveryMs: 10,
    checkEveryMs: 10,
    sharedCheckMs: 1,
    shareCheckEveryMs: 10,
    ...options.stream,
  }
  const harness: AdminHarness = await startAdmin({ ...options, stream })
  const { secret } = await harness.createKey({ scopes: ['positions:read'] })
  const sources: EventSource[] = []
  const ending = new AbortController()
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve())
  })
  let projecting: Promise<void> | undefined
  closeAfterwards(close)
  let erased = 0

  /** A reader with a key of acc-1, or the one in `headers`; the response may have any status. */
  async function open({ headers = bearer(secret), lastEventId, query = '' }: Opening = {}) {
    const source = await openEventSource(`${harness.url}/api/v1/stream${query}`, {
      ...headers,
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    })
    sources.push(source)
    return source
  }

  /** A reader with a known mark: it gets everything appended from now on. */
  async function listen(opening: Opening = {}) {
    const source = await open(opening)
    await eventually(() => source.lastEventId() !== '')
    return source
  }

  /** Projects the log into the store, like the projector, until the end; `gate` delays it. */
  function project({ gate = async () => {} }: { gate?: () => Promise<void> } = {}): void {
    projecting ??= harness.eventLog.subscribe({
      group: 'projector',
      signal: ending.signal,
      async onBatch({ partition, lastOffset, entries }) {
        await Promise.race([gate(), ended])
        await harness.store.project({
          partition,
          lastOffset,
          entries: entries.flatMap((entry) => ('event' in entry ? [entry] : [])),
          fold: deviceStatus,
          foldVersion: FOLD_VERSION,
        })
      },
    })
  }

  /** Erases a device of acc-1 as the API does: in the log first, then out of sight. */
  async function erase(deviceId: string): Promise<void> {
    erased += 1
    const event: DeviceErased = {
      eventId: `01KDVN9C00ERASED${String(erased).padStart(10, '0')}`,
      accountId: 'acc-1',
      deviceId,
      erasedAt: harness.clock.now(),
    }
    await harness.eventLog.erase(event)
    await harness.store.hideErased(event)
  }

  /** A metric's value, the sum of all its labels. */
  async function metric(name: string): Promise<number> {
    const text = await harness.metrics.registry.getSingleMetricAsString(name)
    const values = [...text.matchAll(/^gps_\S+ (\S+)$/gm)].map((match) => Number(match[1]))
    return values.reduce((sum, value) => sum + value, 0)
  }

  async function close(): Promise<void> {
    for (const source of sources) source.close()
    ending.abort()
    await projecting
    await harness.close()
  }

  return {
    ...harness,
    createKey: (changes?: Partial<ApiKey>) => harness.createKey(changes),
    createSession: (operatorId?: string) => harness.createSession(operatorId),
    open,
    listen,
    project,
    erase,
    metric,
    close,
  }
}
