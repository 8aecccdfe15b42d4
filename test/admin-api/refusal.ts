import { newApiKey } from '../../schemas/access/api-key.ts'
import { T0 } from '../samples.ts'

export type RefusedCaller =
  | 'session'
  | 'session without header'
  | 'session with text/plain'
  | 'session with gzip'
  | 'session with Last-Event-ID'
  | 'another page'
  | 'nobody'
  | 'admin'
  | 'viewer'
  | 'admin key'
  | 'reporting key'
  | 'bound key'
  | 'bound admin key'
  | 'unknown key'
  | 'unknown share'

/** A message, a call that gets it, its body, and its caller unless that is a session. */
export type Refusal = readonly [
  message: string,
  call: string,
  body?: unknown,
  caller?: RefusedCaller,
]

/** A body's placeholder for the secret of a key. */
export const REPORTING = '(a key with the scope positions:write)'
export const UNKNOWN = newApiKey()
export const IN_AN_HOUR = new Date(T0 + 2 * 3_600_000).toISOString()
