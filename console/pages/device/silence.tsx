import { shownTelemetry, type ApiDevice, type LiveDevice } from '../../core/live-device.ts'
import { silenceReasons } from '../../core/silence.ts'
import { now } from '../../ui/clock.ts'
import { Loaded } from '../../ui/states.tsx'
import { useSilenceFacts } from './silence-facts.ts'
import { Link, SilenceReasonWords, type SilenceProps } from './silence-reason.tsx'

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
  return shownTelemetry(live ?? { position, telemetry }).battery
}
