import { useMemo } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { DayCounts } from '../../core/day-counts.ts'
import { spanBounds, type Span } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { useLoad } from '../../ui/use-load.ts'

/** The number of a device's reports on each day of a span; undefined until it is known. */
export function useActivity(deviceId: string, span: Span, zone: string): DayCounts | undefined {
  const { first, last } = span
  const { data } = useLoad(
    (signal) => {
      const { from, to } = spanBounds({ first, last }, zone)
      return api.get('/devices/{deviceId}/activity', {
        path: { deviceId },
        query: {
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          step: 'day',
          tz: zone,
        },
        signal,
      })
    },
    [deviceId, first, last, zone],
  )
  return useMemo(
    () => data && new Map(data.items.map((day) => [date(Date.parse(day.start), zone), day])),
    [data, zone],
  )
}

export function dayWords(day: string, count: number, distance?: string): string {
  const words = [distance, count === 0 ? 'no reports' : `${count} reports`]
  return `${day}: ${words.filter(Boolean).join(', ')}`
}

/**
 * Moves the focus among the days, which are one stop of the Tab key, by so many for each key. From
 * right to left the days run the other way, and so do the keys.
 */
export function moveAmong(
  event: KeyboardEvent & { currentTarget: Element },
  steps: Readonly<Record<string, number>>,
): void {
  const days = [...event.currentTarget.querySelectorAll<HTMLElement | SVGElement>('[tabindex]')]
  const here = days.findIndex((day) => day === document.activeElement)
  const isMirrored = getComputedStyle(event.currentTarget).direction === 'rtl'
  const by = steps[event.key]
  const ends: Readonly<Record<string, number>> = { Home: 0, End: days.length - 1 }
  const to = by === undefined ? ends[event.key] : here + (isMirrored ? -by : by)
  if (to === undefined) return
  event.preventDefault()
  days[to]?.focus()
}
