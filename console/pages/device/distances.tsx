import { addressOf, devicePath } from '../../core/address.ts'
import { dayCount, isOneDay, partsOf, spanQuery, spanText, weekOf } from '../../core/span.ts'
import { preciseDuration } from '../../core/times.ts'
import type { Totals } from '../../core/trips.ts'
import { shownCount, shownDistance } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useActivity } from './activity.ts'
import { useDayTotals } from './day-totals.ts'
import type { DeviceDays } from './device-days.ts'

/** Days whose reports the service counts in one call. */
const MOST_DAYS = 1_000

/** How far it went on each day of a week or month, in each month of a longer time, and in all. */
export function Distances(page: DeviceDays) {
  const { span } = page
  const shown = isOneDay(span) ? weekOf(span.first) : span
  return dayCount(shown) > MOST_DAYS ? null : <Parts {...page} of={shown} />
}

function Parts({ deviceId, span, today, zone, totals, of }: DeviceDays & { of: typeof span }) {
  const counts = useActivity(deviceId, of, zone)
  const sumOf = useDayTotals(totals, counts, span.last)
  if (counts === undefined) return null
  const parts = partsOf(of)
    .filter(({ first }) => first <= today)
    .map((part) => ({ part, sum: sumOf(part) }))
  const most = Math.max(1, ...parts.map(({ sum }) => sum.distanceMetres))
  const failure = totals.failure.value
  return (
    <div class="stack near">
      <h3 id="distances">{isOneDay(span) ? 'This week' : 'Distances'}</h3>
      {failure !== undefined && <FailedLine failure={failure} onRetry={totals.retry} />}
      <ol class="distances" aria-labelledby="distances">
        {parts.map(({ part, sum }) => (
          <li key={part.first}>
            <a
              href={addressOf(devicePath(deviceId) + spanQuery(part, today))}
              aria-current={part.first === span.first && isOneDay(span) ? 'date' : undefined}
            >
              {spanText(part, today)}
            </a>
            <span class="distance-bar">
              <span style={{ width: `${(100 * sum.distanceMetres) / most}%` }} />
            </span>
            <span class="note">{wordsOf(sum)}</span>
          </li>
        ))}
      </ol>
      <p class="strong">In all {wordsOf(sumOf(of), 'trip')}</p>
    </div>
  )
}

/** What is known of them, and a mark that more is being read. */
function wordsOf(sum: Totals & { readonly isWhole: boolean }, unit?: 'trip'): string {
  const { trips, distanceMetres, lastedMs, isWhole } = sum
  if (trips === 0) return isWhole ? 'no trips' : '…'
  const many = unit && shownCount(trips, unit)
  const words = [shownDistance(distanceMetres), preciseDuration(lastedMs), many]
  return words.filter(Boolean).join(', ') + (isWhole ? '' : ' …')
}
