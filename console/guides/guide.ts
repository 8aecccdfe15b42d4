/** What a device is set up with. */
export type Setup = {
  /** Of the ingest API, without a path. */
  readonly address: string
  readonly key: string
  readonly deviceId: string
}

/** Something to copy, and what it is. */
export type Entry = { readonly title: string; readonly text: string }

/** One thing to do. What stands between backticks in it is to be entered or read as it is. */
export type Step = { readonly text: string; readonly entries?: readonly Entry[] }

/** A link that sets the app up. */
export type Link = {
  /** How it gets to the app, and what to do there. */
  readonly text: string
  readonly url: string
  /** Whether the app itself has to scan it: tapped, it would only open a browser. */
  readonly onlyScanned?: true
}

/** A request as the app sends it once it is set up. */
export type Example = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type Place = {
  readonly latitude: number
  readonly longitude: number
  /** Milliseconds since the epoch, whole seconds. */
  readonly time: number
}

/** How one app or device is connected. Made into a page of docs/senders/ and shown in the console. */
export type Guide = {
  readonly id: string
  readonly name: string
  /** What it is, in a sentence or two. */
  readonly about: string
  readonly link?: (setup: Setup) => Link
  readonly steps: (setup: Setup) => readonly Step[]
  /** Under which id the device arrives, where that is not the one in the setup. */
  readonly arrivesAs?: (deviceId: string) => string
  /** What to do when nothing arrives. */
  readonly troubles: readonly string[]
  readonly example: (setup: Setup, place: Place) => Example
}

/** A place for the first report: Vienna. */
export const SAMPLE = { latitude: 48.2082, longitude: 16.3738 } as const

export const SUBMIT = '/api/v1/gps/submit'

export function json(body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  } as const
}

/** Text that is not only ASCII too. */
export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

export function isoTime(time: number): string {
  return new Date(time).toISOString()
}
