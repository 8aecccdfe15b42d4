import type { ShownStatus } from './live-device.ts'

/** The order of the parts, clockwise from the top. */
const STATUSES = ['online', 'idle', 'offline', 'disabled'] as const satisfies readonly ShownStatus[]

/** The number of distinguishable shares of a ring. */
export const RING_STEPS = 48

export type RingPart = { readonly status: ShownStatus; readonly steps: number }

/**
 * The parts of a ring that tell the statuses of devices: each as large as its share, but no status
 * that one of them has is left out.
 */
export function statusRing(devices: readonly { readonly status: ShownStatus }[]): RingPart[] {
  const counts = new Map<ShownStatus, number>()
  for (const { status } of devices) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = STATUSES.flatMap((status) => {
    const exact = ((counts.get(status) ?? 0) / devices.length) * RING_STEPS
    return exact === 0 ? [] : [{ status, exact, steps: Math.max(1, Math.floor(exact)) }]
  })
  // Rounding down leaves some steps, raising to one may take too many.
  for (let left = RING_STEPS - sumOf(parts); left !== 0; left -= Math.sign(left)) {
    const lacks = (part: (typeof parts)[number]) => Math.sign(left) * (part.exact - part.steps)
    const able = parts.filter(({ steps }) => left > 0 || steps > 1)
    const most = able.reduce((a, b) => (lacks(b) > lacks(a) ? b : a))
    most.steps += Math.sign(left)
  }
  return parts.map(({ status, steps }) => ({ status, steps }))
}

function sumOf(parts: readonly { readonly steps: number }[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 0)
}
