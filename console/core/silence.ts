import { LOW_BATTERY } from './device-words.ts'
import { seenAt } from '../../schemas/geo/position-order.ts'
import type { components } from '../api/schema.ts'
import type { ClockError } from './clock-error.ts'
import type { ApiPosition } from './live-device.ts'

type ApiKey = components['schemas']['Key']
type Rejection = components['schemas']['Rejection']
type Minute = components['schemas']['SystemMinute']

/** Facts about a device that is not online; undefined if unknown, or hidden from this operator. */
export type SilenceFacts = {
  /** Undefined if no device has the id. */
  readonly device:
    | {
        readonly lastSeenMs: number
        readonly isDisabled: boolean
        readonly battery: number | undefined
        /** Whether all its positions were imported. */
        readonly isHistory?: boolean
      }
    | undefined
  readonly clock?: ClockError | undefined
  /** The key that it last reported with. */
  readonly key?: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'previousValidUntil'> | undefined
  /** Latest first. */
  readonly rejections?: readonly Pick<Rejection, 'receivedAt' | 'error' | 'message'>[] | undefined
  /** Latest first. */
  readonly positions?:
    readonly Pick<ApiPosition, 'timestamp' | 'receivedAt' | 'imported'>[] | undefined
  /** The service's minutes since the device last reported, oldest first. */
  readonly minutes?: readonly Pick<Minute, 'start' | 'accepted'>[] | undefined
}

export type SilenceReason =
  | { readonly kind: 'key-revoked' | 'key-expired' | 'key-rotated'; readonly sinceMs: number }
  | {
      readonly kind: 'refused'
      readonly firstMs: number
      readonly lastMs: number
      readonly error: Rejection['error']
      readonly message: string
    }
  | { readonly kind: 'disabled' | 'only-imported' }
  | ClockError
  | { readonly kind: 'unknown-device' }
  | {
      readonly kind: 'service-away'
      readonly fromMs: number
      readonly toMs: number
      readonly minutes: number
    }
  | { readonly kind: 'not-due'; readonly everyMs: number; readonly dueMs: number }
  | { readonly kind: 'late'; readonly byMs: number }
  | { readonly kind: 'battery-low'; readonly fraction: number }

const MINUTE_MS = 60_000
/** Fewer intervals between reports show no pattern. */
const LEAST_INTERVALS = 4
/** Reports that arrive this late were stored on the device. */
const LATE_MS = 5 * MINUTE_MS
const NEWEST = 5

/** The reasons for a silence that are consistent with the facts, the most likely first. */
export function silenceReasons(facts: SilenceFacts, now: number): readonly SilenceReason[] {
  const { device } = facts
  const key = keyEnded(facts, now)
  const refused = explainRefused(facts)
  // Since that key ended, it has reported with another key.
  const hasOtherKey = key !== undefined && refused !== undefined && refused.lastMs > key.sinceMs
  const reasons = hasOtherKey ? [refused, key] : [key, refused]
  const isDisabled = device?.isDisabled === true
  // Neither patience nor a network helps a device whose reports are rejected.
  const isRefused = isDisabled || key !== undefined || refused !== undefined
  return [
    ...reasons,
    isDisabled ? ({ kind: 'disabled' } as const) : undefined,
    device === undefined ? ({ kind: 'unknown-device' } as const) : undefined,
    device?.isHistory === true ? ({ kind: 'only-imported' } as const) : undefined,
    facts.clock,
    serviceAway(facts),
    ...(isRefused ? [] : [explainNotDue(facts, now), explainLateReports(facts)]),
    explainLowBattery(facts),
  ].filter(isKnown)
}

function isKnown<T>(reason: T | undefined): reason is T {
  return reason !== undefined
}

function keyEnded({ device, key }: SilenceFacts, now: number) {
  if (key === undefined) return undefined
  const { revokedAt, expiresAt, previousValidUntil } = key
  const ends = [
    { kind: 'key-revoked', at: revokedAt, isUsed: true },
    { kind: 'key-expired', at: expiresAt, isUsed: true },
    // Only a device that has not reported since may still have the previous secret.
    {
      kind: 'key-rotated',
      at: previousValidUntil,
      isUsed: (device?.lastSeenMs ?? 0) < timeOf(previousValidUntil),
    },
  ] as const
  const ended = ends.find(({ at, isUsed }) => isUsed && timeOf(at) <= now)
  return ended && { kind: ended.kind, sinceMs: timeOf(ended.at) }
}

function timeOf(text: string | null): number {
  return text === null ? Infinity : Date.parse(text)
}

/** Counts the device's refused reports since it last reported, with the latest cause. */
function explainRefused({ device, rejections = [] }: SilenceFacts) {
  const since = rejections.filter(
    ({ receivedAt, error, message }) =>
      Date.parse(receivedAt) > (device?.lastSeenMs ?? 0) &&
      // Either it is disabled, which is a separate reason, or it has been enabled since.
      !(error === 'FORBIDDEN' && message.includes('disabled')),
  )
  const [latest] = since
  if (latest === undefined) return undefined
  const { error, message } = latest
  const times = since
    .filter((one) => one.error === error && one.message === message)
    .map(({ receivedAt }) => Date.parse(receivedAt))
  return {
    kind: 'refused' as const,
    firstMs: Math.min(...times),
    lastMs: Math.max(...times),
    error,
    message,
  }
}

function serviceAway({ device, positions = [], minutes = [] }: SilenceFacts) {
  // The service may be younger than imported history.
  if (positions[0]?.imported === true) return undefined
  // The current minute may still be empty.
  const away = minutes
    .slice(0, -1)
    .filter(({ accepted }) => accepted === null)
    .map(({ start }) => Date.parse(start))
    .filter((start) => start + MINUTE_MS > (device?.lastSeenMs ?? 0))
  const [from, to] = [away[0], away.at(-1)]
  if (from === undefined || to === undefined) return undefined
  return { kind: 'service-away' as const, fromMs: from, toMs: to + MINUTE_MS, minutes: away.length }
}

function explainNotDue({ device, positions = [] }: SilenceFacts, now: number) {
  // Reports that arrived together count as one.
  const heard = [...new Set(positions.map((one) => Date.parse(seenAt(one))))].sort((a, b) => b - a)
  const everyMs = median(heard.slice(1).map((at, index) => (heard[index] ?? at) - at))
  const dueMs = (device?.lastSeenMs ?? 0) + everyMs
  return heard.length > LEAST_INTERVALS && now < dueMs
    ? { kind: 'not-due' as const, everyMs, dueMs }
    : undefined
}

function explainLateReports({ positions = [] }: SilenceFacts) {
  const byMs = median(
    positions
      .filter(({ imported }) => imported !== true)
      .slice(0, NEWEST)
      .map(({ timestamp, receivedAt }) => Date.parse(receivedAt) - Date.parse(timestamp)),
  )
  return byMs >= LATE_MS ? { kind: 'late' as const, byMs } : undefined
}

function explainLowBattery({ device }: SilenceFacts) {
  const fraction = device?.battery
  return fraction !== undefined && fraction <= LOW_BATTERY
    ? { kind: 'battery-low' as const, fraction }
    : undefined
}

/** The median, or the lower of two middle values; NaN without values. */
function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? NaN
}
