import { shownTelemetry, type ApiPosition, type ApiTelemetry } from '../../core/live-device.ts'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { attributeFacts } from '../../ui/device-parts.tsx'
import { batteryText } from '../../core/measures.ts'
import { dateTime, duration, offset } from '../../core/times.ts'
import { clockHours } from '../../ui/preferences.ts'
import { shownDateTime, shownLength, shownSpeed } from '../../ui/shown.ts'
import { PlaceLinks } from './place-links.tsx'

/** The device's last position, its time in the chosen zone and in UTC, and its newest telemetry. */
export function LastPositionCard({
  position,
  telemetry,
  zone,
}: {
  position: ApiPosition
  telemetry: ApiTelemetry | undefined
  zone: string
}) {
  const { timestamp, receivedAt, heading } = position
  const at = Date.parse(timestamp)
  const isUtc = offset(at, zone) === 'UTC'
  const facts: readonly Fact[] = [
    ['Time', `${shownDateTime(at)} ${offset(at, zone)}`],
    ['UTC', isUtc ? undefined : dateTime(at, 'UTC', clockHours.value)],
    ['Delay', delayText(Date.parse(receivedAt) - at)],
    ['Speed', shownSpeed(position.speed)],
    ['Heading', heading === undefined ? undefined : `${Math.round(heading)}°`],
    ['Altitude', shownLength(position.altitude)],
    ['Accuracy', shownLength(position.accuracy)],
  ]
  const { battery, attributes } = shownTelemetry({ position, telemetry })
  const data: readonly Fact[] = [['Battery', batteryText(battery)], ...attributeFacts(attributes)]
  return (
    <section class="card box stack" aria-labelledby="last-position">
      <h2 id="last-position">Last position</h2>
      <PlaceLinks place={position} />
      <Facts of={telemetry === undefined ? [...facts, ...data] : facts} />
      {telemetry !== undefined && (
        <>
          <h3>Newer data</h3>
          <Facts of={[['Received', shownDateTime(Date.parse(telemetry.receivedAt))], ...data]} />
        </>
      )}
    </section>
  )
}

function delayText(laterMs: number): string {
  if (laterMs <= -1_000) return `${duration(-laterMs)} early: its clock runs ahead`
  return laterMs < 1_000 ? 'none' : duration(laterMs)
}
