import { useEffect, useRef } from 'preact/hooks'
import { api, serverNow } from '../../api/client.ts'
import { toFailure } from '../../core/failure.ts'
import type { ShownStatus } from '../../core/live-device.ts'
import { useLoad } from '../../ui/use-load.ts'

const MINUTE_MS = 60_000
/** The service stores its history for a day. */
const MOST_MINUTES = 1_440
const POSITIONS = 20

/**
 * Reads possible explanations of a device's silence: once, and again when its status changes.
 * `lastSeenMs` is undefined if no device has the id.
 */
export function useSilenceFacts(
  deviceId: string,
  status: ShownStatus | undefined,
  lastSeenMs: number | undefined,
) {
  const facts = useLoad(
    async (signal) => {
      const path = { deviceId }
      const minutes = Math.ceil((serverNow() - (lastSeenMs ?? 0)) / MINUTE_MS) + 1
      const from = lastSeenMs === undefined ? undefined : new Date(lastSeenMs).toISOString()
      const isKnown = lastSeenMs !== undefined
      const [rejections, positions, history] = await Promise.all([
        readIfAllowed(api.get('/rejections', { query: { deviceId, from }, signal })),
        isKnown
          ? readIfAllowed(
              api.get('/devices/{deviceId}/positions', {
                path,
                query: { limit: POSITIONS },
                signal,
              }),
            )
          : undefined,
        isKnown
          ? readIfAllowed(
              api.get('/system/history', {
                query: { minutes: Math.min(MOST_MINUTES, Math.max(1, minutes)) },
                signal,
              }),
            )
          : undefined,
      ])
      return {
        rejections: rejections?.items,
        positions: positions?.items,
        minutes: history?.items,
      }
    },
    [deviceId],
  )
  const before = useRef(status)
  useEffect(() => {
    if (before.current !== status) facts.reload()
    before.current = status
  }, [status])
  return facts
}

/** Undefined if the operator may not read it. */
export async function readIfAllowed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (thrown) {
    if (toFailure(thrown).status === 403) return undefined
    throw thrown
  }
}
