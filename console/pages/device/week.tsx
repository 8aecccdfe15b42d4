import { addressOf, devicePath } from '../../core/address.ts'
import { dayText } from '../../core/days.ts'
import { spanBounds, spanQuery, weekOf } from '../../core/span.ts'
import { movingText } from '../../core/track.ts'
import { totalsByDay } from '../../core/trips.ts'
import { shownDistance } from '../../ui/shown.ts'
import { useLoad } from '../../ui/use-load.ts'
import type { DeviceDays } from './device-days.ts'
import { loadEpisodes } from './load-episodes.ts'

/** The week of a day at a glance: how far it went on each of its days. */
export function Week({ deviceId, span, today, zone }: DeviceDays) {
  const week = weekOf(span.first)
  const { data } = useLoad(
    (signal) => {
      const { from, to } = spanBounds(week, zone)
      const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
      return loadEpisodes({ deviceId, ...range }, signal)
    },
    [deviceId, week.first, zone],
  )
  if (data === undefined) return null
  const days = totalsByDay(data, week, zone).filter(({ day }) => day <= today)
  const most = Math.max(1, ...days.map(({ distanceMetres }) => distanceMetres))
  return (
    <div class="stack near">
      <h3 id="week">This week</h3>
      <ol class="week" aria-labelledby="week">
        {days.map(({ day, trips, distanceMetres, movingSeconds }) => (
          <li key={day}>
            <a
              href={addressOf(devicePath(deviceId) + spanQuery({ first: day, last: day }, today))}
              aria-current={day === span.first ? 'date' : undefined}
            >
              {dayText(day, today)}
            </a>
            <span class="week-bar">
              <span style={{ width: `${(100 * distanceMetres) / most}%` }} />
            </span>
            <span class="note">
              {trips === 0
                ? 'no trips'
                : `${shownDistance(distanceMetres)}, ${movingText(movingSeconds)}`}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
