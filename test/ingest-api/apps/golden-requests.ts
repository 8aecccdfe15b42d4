import { readFileSync } from 'node:fs'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'

/** A real request of an app, and its expected outcome. */
export type Golden = {
  readonly id: string
  readonly source: string
  readonly dialect: string
  readonly note?: string
  readonly request: Sent & {
    readonly method: string
    readonly path: string
    /** Whether the path is complete, instead of relative to the dialect's own path. */
    readonly absolute?: boolean
  }
  readonly expect: {
    readonly status: '2xx' | number
    readonly positions: readonly ExpectedPosition[]
    /** How many rejections operators see; none if absent. */
    readonly rejected?: number
    /** The response's body as JSON. */
    readonly answer?: unknown
    /** Further requests that change nothing. */
    readonly again?: readonly Sent[]
  }
}

type Sent = {
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

type ExpectedPosition = {
  readonly deviceId: string | { readonly fallback: true }
  /** `now` is the time of receipt. */
  readonly timestamp: string
} & Readonly<Record<string, unknown>>

const FOLDERS: Readonly<Record<string, string>> = {
  owntracks: '/api/v1/senders/owntracks',
  overland: '/api/v1/senders/overland',
  osmand: '/api/v1/senders/osmand',
  traccar: '/api/v1/senders/traccar',
  'traccar-forward': '/api/v1/senders/traccar-forward',
  'dawarich-owntracks': '/api/v1/owntracks/points',
  'dawarich-overland': '/api/v1/overland/batches',
  'the-things-stack': '/api/v1/senders/the-things-stack',
  chirpstack: '/api/v1/senders/chirpstack',
  phonetrack: '',
}

const CASES = new URL('../../fixtures/senders/requests.json', import.meta.url)

export function goldenRequests(): Golden[] {
  return JSON.parse(readFileSync(CASES, 'utf8')) as Golden[]
}

/** The requests of a case in order, with the key filled in. */
export function requestsOf(
  { dialect, request, expect }: Golden,
  key: string,
): { readonly path: string; readonly init: RequestInit }[] {
  const folder = request.absolute === true ? '' : FOLDERS[dialect]
  if (folder === undefined) throw new Error(`no path is known of ${dialect}`)
  const withKey = (text: string) =>
    text
      .replaceAll('{{key}}', key)
      .replace(/\{\{basic:(.*?)\}\}/g, (_, user: string) => btoa(`${user}:${key}`))
  return [request, ...(expect.again ?? [])].map(({ query = '', headers = {}, body }) => ({
    path: withKey(folder + request.path + (query === '' ? '' : `?${query}`)),
    init: {
      method: request.method,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, withKey(value)]),
      ),
      ...(body !== undefined && { body: withKey(body) }),
    },
  }))
}

/** An event, and next to it the same fields with the expected values. */
export function compared(
  { deviceId, timestamp, ...fields }: ExpectedPosition,
  event: PositionReported,
  { fallback, now }: { fallback: string; now: number },
): { wanted: object; found: object } {
  const found = event as unknown as Readonly<Record<string, unknown>>
  return {
    wanted: {
      ...fields,
      deviceId: typeof deviceId === 'string' ? deviceId : fallback,
      timestamp: timestamp === 'now' ? new Date(now).toISOString() : timestamp,
    },
    found: {
      ...Object.fromEntries(Object.keys(fields).map((name) => [name, found[name] ?? null])),
      deviceId: event.deviceId,
      timestamp: new Date(event.timestamp).toISOString(),
    },
  }
}
