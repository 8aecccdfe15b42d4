import type { AppHead, AppItem, AppRequest } from '../../schemas/formats/senders/app-request.ts'
import { readChirpstack, readTheThingsStack } from '../../schemas/formats/senders/lorawan.ts'
import { readOsmand } from '../../schemas/formats/senders/osmand.ts'
import { readOverland } from '../../schemas/formats/senders/overland.ts'
import { readOwntracks } from '../../schemas/formats/senders/owntracks.ts'
import { readPhonetrack } from '../../schemas/formats/senders/phonetrack.ts'
import { readTraccarForward } from '../../schemas/formats/senders/traccar-forward.ts'

/** An app that reports here: the parser of its format, its limits and its responses. */
export type SenderApp = {
  /** The name in metrics. */
  readonly name: string
  /** The largest body, after decompression. */
  readonly limitBytes: number
  /** Never throws. */
  readonly read: (request: AppRequest) => readonly AppItem[]
  readonly answer: (head: AppHead) => AppAnswer
  /** Whether it sends files, such as photos, as `multipart/form-data`. */
  readonly takesFiles?: true
  /** Whether the app deletes its data on a 4xx. */
  readonly never4xx?: boolean
}

/**
 * The response that an app needs for reports that were accepted or can never be: JSON, or nothing.
 */
export type AppAnswer = { readonly status: number; readonly body: string }

export const EMPTY: AppAnswer = { status: 200, body: '' }
const EMPTY_LIST: AppAnswer = { status: 200, body: '[]' }
const RESULT_OK: AppAnswer = { status: 200, body: '{"result":"ok"}' }

const KIB = 1024
const MIB = 1024 * KIB

export const owntracks: SenderApp = {
  name: 'owntracks',
  // The iOS app puts photos into messages.
  limitBytes: 8 * MIB,
  never4xx: true,
  read: (request) => readOwntracks(request),
  answer: ({ literalBasic }) => (literalBasic ? RESULT_OK : EMPTY_LIST),
}

export const dawarichOwntracks: SenderApp = {
  ...owntracks,
  name: 'dawarich-owntracks',
  read: (request) => readOwntracks(request, { dawarich: true }),
}

export const overland: SenderApp = {
  name: 'overland',
  limitBytes: 2 * MIB,
  read: ({ body }) => readOverland(body),
  answer: () => RESULT_OK,
}

/** Dawarich responds with 201, and some of its clients accept nothing else. */
export const dawarichOverland: SenderApp = {
  ...overland,
  name: 'dawarich-overland',
  answer: () => ({ ...RESULT_OK, status: 201 }),
}

export const osmand: SenderApp = {
  name: 'osmand',
  limitBytes: 16 * KIB,
  read: (request) => readOsmand(request),
  answer: () => EMPTY,
}

/** Traccar Client on Dawarich's path. */
export const dawarichTraccar: SenderApp = {
  ...osmand,
  name: 'dawarich-traccar',
  answer: () => EMPTY_LIST,
}

export const traccarForward: SenderApp = {
  name: 'traccar-forward',
  limitBytes: 16 * KIB,
  read: ({ body }) => readTraccarForward(body),
  answer: () => EMPTY,
}

export const theThingsStack: SenderApp = {
  name: 'the-things-stack',
  // Enough for one message received by many gateways.
  limitBytes: 64 * KIB,
  read: ({ body }) => readTheThingsStack(body),
  answer: () => EMPTY,
}

export const chirpstack: SenderApp = {
  name: 'chirpstack',
  limitBytes: 64 * KIB,
  read: ({ body }) => readChirpstack(body),
  answer: () => EMPTY,
}

const DONE: AppAnswer = { status: 200, body: '{"done":1,"friends":[]}' }

const PHONETRACK_ANSWERS = new Map<string, AppAnswer>([
  ['get', DONE],
  ['post', DONE],
  ['multiple', DONE],
  ['owntracks', EMPTY_LIST],
  ['overland', RESULT_OK],
  ['ulogger', { status: 200, body: '{"error":false,"trackid":1}' }],
  ['traccar', { status: 200, body: '{"status":"success"}' }],
  ['opengts', { status: 200, body: 'true' }],
])

export const phonetrack: SenderApp = {
  name: 'phonetrack',
  limitBytes: 2 * MIB,
  read: readPhonetrack,
  answer: ({ parameters }) => PHONETRACK_ANSWERS.get(parameters['app'] ?? '') ?? EMPTY,
}

/** PhoneTrack's URL for OwnTracks, which deletes data on a 4xx, here and on its own paths. */
export const phonetrackOwntracks: SenderApp = { ...phonetrack, never4xx: true }

/** PhoneTrack's URL for μlogger, which sends a point with a photo as multipart. The photo is dropped. */
export const phonetrackUlogger: SenderApp = { ...phonetrack, limitBytes: 8 * MIB, takesFiles: true }
