/** The values for setting up a device. */
export type Setup = {
  /** The base URL of the ingest API, without a path. */
  readonly address: string
  readonly key: string
  readonly deviceId: string
}

/** A text to copy, and its title. */
export type CopyableText = { readonly title: string; readonly text: string }

/** One step of a setup. Text between backticks is entered or read literally. */
export type GuideStep = { readonly text: string; readonly entries?: readonly CopyableText[] }

/** A link that sets up the app. */
export type SetupLink = {
  /** How the link gets to the app, and what to do there. */
  readonly text: string
  readonly url: string
  /** Whether the app itself must scan the link: tapping it would only open a browser. */
  readonly onlyScanned?: true
}

/** A request as sent by the configured app. */
export type Example = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type SamplePlace = {
  readonly latitude: number
  readonly longitude: number
  /** Milliseconds since the epoch, whole seconds. */
  readonly time: number
}

/**
 * How one app or device is connected. Rendered as a page of docs/senders/ and shown in the console.
 */
export type Guide = {
  readonly id: string
  readonly name: string
  /** A description of the app in one or two sentences. */
  readonly about: string
  readonly link?: (setup: Setup) => SetupLink
  readonly steps: (setup: Setup) => readonly GuideStep[]
  /** The id under which the device arrives, if it differs from the configured one. */
  readonly arrivesAs?: (deviceId: string) => string
  /** Devices known to work, and their payloads. */
  readonly known?: { readonly text: string; readonly entries: readonly CopyableText[] }
  /** Remedies when nothing arrives. */
  readonly troubles: readonly string[]
  readonly example: (setup: Setup, place: SamplePlace) => Example
}

/** A location for the first report: Vienna. */
export const SAMPLE = { latitude: 48.2082, longitude: 16.3738 } as const

export const SUBMIT = '/api/v1/gps/submit'

export function json(body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  } as const
}

/** Encodes text that may not be ASCII, too. */
export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

export function sampleTime(time: number): string {
  return new Date(time).toISOString()
}

/** Quotes a text as one word of a POSIX shell. */
export function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
