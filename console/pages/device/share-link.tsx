import { addressOf } from '../../core/address.ts'

/** A link to the form for a new share of the device. */
export function ShareLink({ deviceId }: { deviceId: string }) {
  return (
    <a class="button" href={addressOf(`/shares?device=${encodeURIComponent(deviceId)}`)}>
      Share
    </a>
  )
}
