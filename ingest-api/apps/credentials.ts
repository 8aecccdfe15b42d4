import { bearerToken } from '../../runtime/http/http-request.ts'
import { hashOf, type Credentials } from '../admission/admission.ts'
import type { Fields } from '../../schemas/formats/senders/fields.ts'

/** Where an app has put its key. */
export type AppCredentials = Credentials & {
  /** Whether it came in a header `Basic <key>:`, not encoded, as Overland sends it. */
  readonly literalBasic: boolean
}

const EXPECTED_IN =
  'send a valid API key: as Bearer, as the password of Basic, or where this path has it in its URL'

/** Bearer, the password of Basic, a literal Basic, the path, the query's `key` or `api_key`. */
export function credentialsIn({
  authorization,
  path,
  query: { key, api_key: apiKey },
}: {
  authorization: string
  /** The part of the path that may be a key. */
  path: string | undefined
  query: Fields
}): AppCredentials {
  const literal = /^basic +(gps_[^:\s]*):? *$/i.exec(authorization)?.[1]
  const places = [
    bearerToken(authorization),
    basicPassword(authorization),
    literal,
    path,
    key,
    apiKey,
  ]
  for (const text of places) {
    const hash = text && hashOf(text)
    if (hash) return { hash, literalBasic: text === literal, isSent: true, expectedIn: EXPECTED_IN }
  }
  const isSent = places.some(Boolean)
  return { hash: undefined, literalBasic: false, isSent, expectedIn: EXPECTED_IN }
}

/** RFC 7617; the user's name is ignored. */
function basicPassword(authorization: string): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('latin1')
  const colon = pair.indexOf(':')
  return colon === -1 ? undefined : pair.slice(colon + 1)
}

/** The query without the key. */
export function withoutKey(query: Fields): Fields {
  if (query['key'] === undefined && query['api_key'] === undefined) return query
  return Object.fromEntries(
    Object.entries(query).filter(([name]) => name !== 'key' && name !== 'api_key'),
  )
}
