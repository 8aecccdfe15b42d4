import { useMemo } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { DayCounts } from '../../core/day-counts.ts'
import { spanBounds, type Span } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { useKeys, type KeyActions } from '../../ui/keys.tsx'
import { shownCount } from '../../ui/shown.ts'
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
  const words = [distance, count === 0 ? 'no reports' : shownCount(count, 'report')]
  return `${day}: ${words.filter(Boolean).join(', ')}`
}

/**
 * Keys that move the focus among the days of `element`, which are one stop of the Tab key, by so
 * many days each. From right to left the days run the other way, and so do the keys.
 */
export function useDayKeys(
  part: Parameters<typeof useKeys>[1] & object,
  steps: Readonly<Record<string, number>>,
  others: KeyActions = {},
): void {
  function to(label: string, place: (here: number, last: number) => number): KeyActions[string] {
    const run = () => {
      const days = [...(part.element.current?.querySelectorAll<HTMLElement>('[tabindex]') ?? [])]
      const here = days.findIndex((day) => day === document.activeElement)
      days[place(here, days.length - 1)]?.focus()
    }
    return { label, run }
  }
  function along(by: number): KeyActions[string] {
    const label = Math.abs(by) === 1 ? 'Previous or next day' : 'Previous or next week'
    return to(label, (here) => here + (isMirrored(part.element.current) ? -by : by))
  }
  useKeys(
    {
      ...Object.fromEntries(Object.entries(steps).map(([key, by]) => [key, along(by)])),
      Home: to('First or last day', () => 0),
      End: to('First or last day', (_, last) => last),
      ...others,
    },
    part,
  )
}

function isMirrored(element: Element | null): boolean {
  return element !== null && getComputedStyle(element).direction === 'rtl'
}
