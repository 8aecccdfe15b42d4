import type { ShownStatus } from '../core/live-device.ts'

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
