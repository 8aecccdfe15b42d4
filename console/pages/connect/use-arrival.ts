import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { toFailure, type ApiFailure } from '../../api/failure.ts'
import type { Seen } from './outcome.ts'

/** An arrival or refusal is to be seen within 2 s. */
const LOOK_EVERY_MS = 1_000

const NOTHING: Seen = { devices: [], rejections: [] }

/** Looks again and again for reports of a device and for refusals of a key, while the page is visible. */
export function useArrival(
  deviceId: string,
  keyId: string | undefined,
): { readonly seen: Seen; readonly failure: ApiFailure | undefined } {
  const [state, setState] = useState<{ seen: Seen; failure?: ApiFailure }>({ seen: NOTHING })
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    setState({ seen: NOTHING })
    const look = async () => {
      if (document.hidden) return
      try {
        const seen = await lookOnce(deviceId, keyId, signal)
        if (!signal.aborted) setState({ seen })
      } catch (thrown) {
        if (!signal.aborted) setState(({ seen }) => ({ seen, failure: toFailure(thrown) }))
      }
    }
    const again = async () => {
      await look()
      if (!signal.aborted) timer = setTimeout(again, LOOK_EVERY_MS)
    }
    let timer = setTimeout(again, 0)
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [deviceId, keyId])
  return { seen: state.seen, failure: state.failure }
}

/** Lists, because asking for a device that is not there yet would fail. */
async function lookOnce(
  deviceId: string,
  keyId: string | undefined,
  signal: AbortSignal,
): Promise<Seen> {
  const latest = { sort: '-lastSeenAt', limit: 10 } as const
  const [named, newest, refused] = await Promise.all([
    deviceId === ''
      ? undefined
      : api.get('/devices', { query: { ...latest, q: deviceId }, signal }),
    api.get('/devices', { query: latest, signal }),
    keyId === undefined && deviceId === ''
      ? undefined
      : api.get('/rejections', {
          query: { limit: 1, ...(keyId === undefined ? { deviceId } : { keyId }) },
          signal,
        }),
  ])
  return {
    devices: [...(named?.items ?? []), ...newest.items],
    rejections: refused?.items ?? [],
  }
}
