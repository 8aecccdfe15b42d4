import type { components } from '../../api/schema.ts'

type Device = Pick<
  components['schemas']['Device'],
  'deviceId' | 'name' | 'lastSeenAt' | 'firstSeenAt'
>
type Rejection = Pick<
  components['schemas']['Rejection'],
  'receivedAt' | 'error' | 'message' | 'deviceId' | 'body'
>

/** The service's response to a test report. */
export type TestAnswer = {
  readonly at: string
  readonly status: number
  readonly error?: string
  readonly message: string
}

/** The outcome of connecting a device. */
export type ConnectOutcome =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'arrived'; readonly device: Device; readonly isOther: boolean }
  | {
      readonly kind: 'refused'
      readonly at: string
      readonly error: string
      readonly message: string
      /** The id in the report. */
      readonly sentAs?: string | undefined
      readonly body?: string | undefined
    }

/** The service's data on the key's reports and on the devices that reported last. */
export type RecentReports = {
  readonly devices: readonly Device[]
  readonly rejections: readonly Rejection[]
}

/**
 * The latest event since `since`. If the device has not reported but a new one has, the new device
 * has arrived: most probably it is the same one under another id.
 */
export function outcomeOf({
  deviceId,
  since,
  seen,
  answer,
}: {
  deviceId: string
  since: string
  seen: RecentReports
  answer?: TestAnswer | undefined
}): ConnectOutcome {
  const found: (ConnectOutcome & { at: string })[] = []
  const wanted = seen.devices.find((one) => one.deviceId === deviceId)
  const other = seen.devices.find((one) => one.deviceId !== deviceId && one.firstSeenAt >= since)
  if (wanted !== undefined && wanted.lastSeenAt >= since) {
    found.push({ kind: 'arrived', device: wanted, isOther: false, at: wanted.lastSeenAt })
  } else if (other !== undefined) {
    found.push({ kind: 'arrived', device: other, isOther: true, at: other.lastSeenAt })
  }
  const rejection = seen.rejections.find(({ receivedAt }) => receivedAt >= since)
  if (rejection !== undefined) found.push(toRefusal(rejection, rejection.receivedAt))
  if (answer !== undefined) {
    const { at, error = String(answer.status) } = answer
    found.push(
      answer.status === 200 ? { kind: 'accepted', at } : toRefusal({ ...answer, error }, at),
    )
  }
  // If two outcomes have the same time, the first one found is more informative.
  return found.reduce<ConnectOutcome & { at: string }>((a, b) => (b.at > a.at ? b : a), {
    kind: 'waiting',
    at: '',
  })
}

function toRefusal(
  {
    error,
    message,
    deviceId,
    body,
  }: { error: string; message: string; deviceId?: string | undefined; body?: string | undefined },
  at: string,
) {
  return { kind: 'refused', at, error, message, sentAs: deviceId, body } as const
}

/** Advice on a refusal. */
export function adviceFor(error: string): string {
  switch (error) {
    case 'INVALID_PARAMS':
      return 'Correct what the device sends, then send again.'
    case 'UNAUTHORIZED':
    case '401':
      return 'The key is not valid: it is mistyped, expired or revoked. Create another one above.'
    case 'FORBIDDEN':
    case '403':
      return 'Check the limits of the key under Keys, and whether the device is disabled.'
    case 'RATE_LIMITED':
    case '429':
      return 'Send less often: one report per second and device is enough.'
    case 'PAYLOAD_TOO_LARGE':
      return 'Send one report per request, or several to /api/v1/gps/batch.'
    default:
      return 'Try again in a moment.'
  }
}
