import type { ComponentChildren } from 'preact'
import { addressOf } from '../../core/address.ts'
import type { ClockError } from '../../core/clock-error.ts'
import {
  newestTelemetry,
  type ApiDevice,
  type LiveDevice,
  type ShownStatus,
} from '../../core/live-device.ts'
import { batteryText } from '../../core/measures.ts'
import { silenceReasons, type SilenceReason } from '../../core/silence.ts'
import { duration } from '../../core/times.ts'
import { may } from '../../live/session.ts'
import { now } from '../../ui/clock.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { formatAt, formatClock } from '../../ui/shown.ts'
import { FailedLine, Loaded } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { KeyLink } from '../keys/key-parts.tsx'
import type { Key } from '../keys/key-words.ts'
import { causeOf, remedyOf } from '../rejections/rejections.ts'
import { changeDevice } from './change-devices.ts'
import { useSilenceFacts } from './silence-facts.ts'
import { clockWords } from './wrong-clock.tsx'

/** The reasons why a device is not online, the most likely first, each with its remedy. */
export function Silence(props: SilenceProps) {
  const { deviceId, device, live, status, usedKey, clock } = props
  const lastSeenMs = live?.lastSeenMs ?? (device && Date.parse(device.lastSeenAt))
  const facts = useSilenceFacts(deviceId, status, lastSeenMs)
  return (
    <section class="card box stack some silence" aria-labelledby="silence">
      <h2 id="silence">Why is it silent?</h2>
      <Loaded of={facts} lines={3}>
        {(found) => {
          const reasons = silenceReasons(
            {
              ...found,
              device: device && {
                lastSeenMs: lastSeenMs ?? 0,
                isDisabled: status === 'disabled',
                battery: batteryOf(device, live),
                isHistory: device.lastKeyId === undefined && device.lastPosition.imported === true,
              },
              clock,
              key: usedKey ?? undefined,
            },
            now.value,
          )
          return reasons.length === 0 ? (
            <>
              <p>No reason found.</p>
              <p class="quiet">
                Check first that the phone is on and has a network, and that it does not stop the
                app to save battery. <Link to="/connect">Settings of the apps</Link>
              </p>
            </>
          ) : (
            <ol class="stack some">
              {reasons.map((reason) => (
                <li key={reason.kind}>
                  <SilenceReasonWords of={reason} {...props} />
                </li>
              ))}
            </ol>
          )
        }}
      </Loaded>
    </section>
  )
}

function batteryOf(device: ApiDevice, live: LiveDevice | undefined): number | undefined {
  const { lastPosition: position, telemetry } = device
  return newestTelemetry(live ?? { position, telemetry }).battery
}

const MINUTES = { hasSeconds: false }

type SilenceProps = {
  readonly deviceId: string
  /** Undefined if no device has the id. */
  readonly device?: ApiDevice
  readonly live?: LiveDevice | undefined
  readonly status?: ShownStatus
  /** The key that it last reported with. */
  readonly usedKey?: Key | null | undefined
  readonly clock?: ClockError | undefined
  readonly onChange?: () => void
}

/** One reason for a silence, and its remedy. */
function SilenceReasonWords({ of: reason, ...props }: SilenceProps & { of: SilenceReason }) {
  const { why, remedy } = wordsOf(reason, props)
  return (
    <>
      <p>{why}</p>
      <p class="quiet">{remedy}</p>
    </>
  )
}

type ReasonAndRemedy = { readonly why: ComponentChildren; readonly remedy: ComponentChildren }

function wordsOf(
  reason: SilenceReason,
  { deviceId, device, usedKey, onChange }: SilenceProps,
): ReasonAndRemedy {
  const key = usedKey ? <KeyLink of={usedKey} /> : null
  switch (reason.kind) {
    case 'key-revoked':
      return {
        why: (
          <>
            Its key {key} was revoked {formatAt(reason.sinceMs)}.{stillUsed(usedKey)}
          </>
        ),
        remedy: may('keys.edit') ? (
          <>
            <Link to="/connect">Create a key</Link> and enter it in the device.
          </>
        ) : (
          'An admin can create another key for it.'
        ),
      }
    case 'key-expired':
      return {
        why: (
          <>
            Its key {key} expired {formatAt(reason.sinceMs)}.{stillUsed(usedKey)}
          </>
        ),
        remedy: may('keys.edit')
          ? 'Choose a later expiry on the page of the key.'
          : 'An admin can choose a later expiry.',
      }
    case 'key-rotated':
      return {
        why: (
          <>
            The secret of its key {key} was replaced; the old one stopped working{' '}
            {formatAt(reason.sinceMs)}.{stillUsed(usedKey)}
          </>
        ),
        remedy: may('keys.edit')
          ? 'Enter the new secret in the device, or replace it again.'
          : 'An admin can replace it again, and enter the new secret in the device.',
      }
    case 'refused': {
      const { firstMs, lastMs, message } = reason
      return {
        why: (
          <>
            Its reports are rejected, {firstMs < lastMs && `first ${formatAt(firstMs)}, `}last{' '}
            {formatAt(lastMs)}: <Isolated>{causeOf({ message })}</Isolated>
          </>
        ),
        remedy: (
          <>
            {remedyOf(reason)}{' '}
            <Link to={`/rejections?deviceId=${encodeURIComponent(deviceId)}`}>Its rejections</Link>
          </>
        ),
      }
    }
    case 'disabled':
      return {
        why: 'It is disabled: its reports are rejected.',
        remedy:
          may('devices.disable') && device !== undefined ? (
            <Enable device={device} onDone={onChange} />
          ) : (
            'An admin can enable it.'
          ),
      }
    case 'unknown-device':
      return {
        why: 'The account has no device with this id: it has not reported yet, or was erased.',
        remedy: (
          <>
            Compare it with the id in the device, character by character.{' '}
            <Link to="/connect">Connect a device</Link>
          </>
        ),
      }
    case 'only-imported':
      return {
        why: 'All its positions were imported as history: it has not reported itself.',
        remedy: (
          <>
            Set its app up to report, under the same id. <Link to="/connect">Connect a device</Link>
          </>
        ),
      }
    case 'clock-ahead':
    case 'clock-behind':
      return clockWords(reason)
    case 'service-away':
      return {
        why: `The service was unavailable for ${duration(60_000 * reason.minutes)}, from ${formatClock(reason.fromMs, MINUTES)} to ${formatClock(reason.toMs, MINUTES)}.`,
        remedy: (
          <>
            Apps that store their reports send them later. <Link to="/system">System</Link>
          </>
        ),
      }
    case 'not-due':
      return {
        why: `It reports about every ${duration(reason.everyMs)}; the next report is due ${formatAt(reason.dueMs)}.`,
        remedy: 'Wait until then.',
      }
    case 'late':
      return {
        why: `Its last reports came ${duration(reason.byMs)} late: it stores them and sends them later.`,
        remedy: 'It probably has no network. Wait until it has one, or check its mobile data.',
      }
    case 'battery-low':
      return {
        why: `Its battery was at ${batteryText(reason.fraction)} when it last reported.`,
        remedy: 'Charge it.',
      }
  }
}

/** Whether something still sends with a key that has ended: then the device itself works. */
function stillUsed(key: Key | null | undefined): string {
  const { lastRefusedAt = null } = key ?? {}
  return lastRefusedAt === null
    ? ''
    : ` Requests with it still arrive, the last ${formatAt(Date.parse(lastRefusedAt))}.`
}

function Enable({ device, onDone }: { device: ApiDevice; onDone: SilenceProps['onChange'] }) {
  const enable = useAction(async () => {
    await changeDevice(device, { disabled: false })
    onDone?.()
  })
  return (
    <>
      <button type="button" class="small" disabled={enable.isRunning} onClick={enable.run}>
        Enable it
      </button>
      {enable.failure !== undefined && <FailedLine failure={enable.failure} />}
    </>
  )
}

function Link({ to, children }: { to: string; children: ComponentChildren }) {
  return <a href={addressOf(to)}>{children}</a>
}
