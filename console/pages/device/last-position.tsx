import { ExternalLink } from 'lucide'
import type { ApiPosition } from '../../core/live-device.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { attributeFacts } from './attribute-facts.tsx'
import { Icon } from '../../ui/icon.tsx'
import { batteryText, coordinatesText, metresText, speedText } from '../../core/measures.ts'
import { dateTime, duration, offset } from '../../core/times.ts'

/** The device's last position, and its time in the chosen zone and in UTC. */
export function LastPosition({ position, zone }: { position: ApiPosition; zone: string }) {
  const { latitude, longitude, timestamp, receivedAt, heading } = position
  const at = Date.parse(timestamp)
  const isUtc = offset(at, zone) === 'UTC'
  const coordinates = coordinatesText(position)
  const facts: readonly Fact[] = [
    [isUtc ? 'Time' : zone.replaceAll('_', ' '), `${dateTime(at, zone)} ${offset(at, zone)}`],
    ['UTC', isUtc ? undefined : dateTime(at, 'UTC')],
    ['Received', receivedText(Date.parse(receivedAt) - at)],
    ['Speed', speedText(position.speed)],
    ['Heading', heading === undefined ? undefined : `${Math.round(heading)}°`],
    ['Altitude', metresText(position.altitude)],
    ['Accuracy', metresText(position.accuracy)],
    ['Battery', batteryText(position.battery)],
    ...attributeFacts(position.attributes),
  ]
  return (
    <section class="card box stack" aria-labelledby="last-position">
      <h2 id="last-position">Last position</h2>
      <p class="row between">
        <code>{coordinates}</code>
        <span class="row">
          <CopyButton text={coordinates} what="coordinates" />
          <a class="button small" href={`geo:${latitude},${longitude}`} data-outside>
            <Icon of={ExternalLink} small /> Open in an app
          </a>
        </span>
      </p>
      <Facts of={facts} />
    </section>
  )
}

function receivedText(laterMs: number): string {
  if (laterMs <= -1_000) return `${duration(-laterMs)} before: its clock runs ahead`
  return laterMs < 1_000 ? 'at once' : `${duration(laterMs)} later`
}
