import type { ShownStatus } from '../core/live-device.ts'
import { Isolated } from './isolated.tsx'
import { attributeName, sortAttributeNames, type DeviceAttributes } from '../core/readings.ts'
import type { Fact } from './facts.tsx'
import { formatAttribute } from './shown.ts'
import { addressOf } from '../core/address.ts'

/** The shape of a status on the map, in its colour. */
export function StatusShape({ status }: { status: ShownStatus }) {
  return (
    <svg class={`shape ${status}`} viewBox="0 0 16 16" aria-hidden="true">
      {status === 'online' && <circle cx="8" cy="8" r="5.5" />}
      {status === 'idle' && <path d="M8 1.5 14.5 8 8 14.5 1.5 8Z" />}
      {status === 'offline' && <rect x="3" y="3" width="10" height="10" />}
      {status === 'disabled' && (
        <>
          <circle class="hollow" cx="8" cy="8" r="5" />
          <path class="hollow" d="M5 11 11 5" />
        </>
      )}
    </svg>
  )
}

/** The labels of a device. */
export function Labels({ of: labels }: { of: readonly string[] }) {
  if (labels.length === 0) return null
  return (
    <ul class="labels row" aria-label="Labels">
      {labels.map((label) => (
        <li key={label}>
          <Isolated class="label one-line">{label}</Isolated>
        </li>
      ))}
    </ul>
  )
}

/** Attributes with their labels; texts are isolated. */
export function attributeFacts(attributes: DeviceAttributes = {}): Fact[] {
  return sortAttributeNames(Object.keys(attributes)).map((name) => {
    const value = attributes[name] ?? ''
    return [attributeName(name), <Isolated>{formatAttribute(name, value)}</Isolated>]
  })
}

/** A link to the form for a new share of the device. */
export function ShareLink({ deviceId }: { deviceId: string }) {
  return (
    <a class="button" href={addressOf(`/shares?device=${encodeURIComponent(deviceId)}`)}>
      Share
    </a>
  )
}
