import { useEffect, useState } from 'preact/hooks'
import { failureOf, toFailure, unreachable, type ApiFailure } from '../../api/failure.ts'
import { openStream } from '../../live/open-stream.ts'
import { withPosition, type Shared, type SharedDevice } from './shared-view.ts'

export type SharedState = {
  readonly shared?: Shared
  readonly failure?: ApiFailure
  readonly isLive: boolean
}

/** What a share shows, live: stream first, then the list, again after each loss. */
export function useShared(token: string): SharedState {
  const [state, setState] = useState<SharedState>({ isLive: false })
  useEffect(() => {
    const headers = { Authorization: `Bearer ${token}` }
    const fail = (thrown: unknown) =>
      setState((before) => ({ ...before, isLive: false, failure: toFailure(thrown) }))
    const read = () =>
      readShared(headers).then((shared) => setState({ shared, isLive: true }), fail)
    const stream = openStream({
      url: '/api/v1/shared/stream',
      headers,
      onOpen: () => {
        read().catch(fail)
      },
      onEvents(events) {
        const told = events
          .filter(({ name }) => name === 'position')
          .map(({ data }) => JSON.parse(data) as SharedDevice)
        setState((before) =>
          before.shared === undefined
            ? before
            : { ...before, shared: told.reduce(withPosition, before.shared) },
        )
      },
      onLost(status) {
        setState((before) => ({ ...before, isLive: false }))
        // Whether the share has ended or the network has gone.
        if (status !== 429 && status !== 503) read().catch(fail)
      },
      onUnauthorized: () => Promise.resolve(false),
      final: [401, 404],
    })
    return () => stream.close()
  }, [token])
  return state
}

/** @throws {ApiFailure} 404 for a share that is unknown, expired or revoked. */
async function readShared(headers: Readonly<Record<string, string>>): Promise<Shared> {
  const response = await fetch('/api/v1/shared', { headers, credentials: 'omit' }).catch(
    (cause: unknown) => {
      throw unreachable(cause)
    },
  )
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
  if (!response.ok || body === undefined) throw failureOf(response, body)
  return body['data'] as Shared
}
