import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { api } from '../../api/client.ts'
import { coordinatesText } from '../../core/measures.ts'
import { dateText, dayText } from '../../core/date-words.ts'
import { isOneDay, rangeQuery, type Span } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { pointOf } from '../../core/track.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { formatClock } from '../../ui/shown.ts'
import { Failed, Loading } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { usePlace } from './use-place.ts'
import { TrackMap } from './track-map.tsx'
import type { DeviceRange } from './track-data.ts'

/**
 * A day without reports: the last known position before it, or else the first after it, with a link
 * to that day.
 */
export function EmptyDay({
  range: { deviceId, from, to },
  span,
  today,
  zone,
}: {
  range: DeviceRange
  span: Span
  today: string
  zone: string
}) {
  const { data, failure, reload } = useLoad(
    async (signal) => {
      const read = (query: { from?: string; to?: string; order: 'asc' | 'desc' }) =>
        api.get('/devices/{deviceId}/positions', {
          path: { deviceId },
          query: { ...query, limit: 1 },
          signal,
        })
      const bounds = rangeQuery({ from, to })
      const { items: before } = await read({ to: bounds.from, order: 'desc' })
      const { items } =
        before.length > 0 ? { items: before } : await read({ from: bounds.to, order: 'asc' })
      return { isBefore: before.length > 0, nearest: items.map(pointOf) }
    },
    [deviceId, from, to],
  )
  if (data === undefined) {
    return failure === undefined ? (
      <Loading lines={2} what="Finding the last known place" />
    ) : (
      <Failed failure={failure} onRetry={reload} />
    )
  }
  const [point] = data.nearest
  const day = point && date(point.at, zone)
  return (
    <>
      <div class="notice row" role="status">
        <p>
          <strong>{describeEmptySpan(span, today)}.</strong>{' '}
          {point !== undefined && day !== undefined && (
            <>
              {data.isBefore ? 'Last known place: ' : 'First known place: '}
              <PlaceName of={point} />
              <code>{coordinatesText(point)}</code>, {dayText(day, today)} at{' '}
              {formatClock(point.at)}.
            </>
          )}
        </p>
        {day !== undefined && (
          <a class="button" href={addressOf(`${devicePath(deviceId)}?day=${day}`)}>
            Open {dateText(day, today)}
          </a>
        )}
      </div>
      <TrackMap
        track={{ points: data.nearest, total: 1, toleranceMetres: 0, maxSpeed: null }}
        shows={String(from)}
        at={point?.at ?? 0}
        status="past"
        stops={[]}
        selected={undefined}
        isPlain
        isFollowing={false}
        onMove={() => undefined}
      />
    </>
  )
}

function PlaceName({ of: point }: { of: Coordinates }) {
  const name = usePlace(point)
  return name === undefined ? null : (
    <>
      <Isolated>{name}</Isolated>,{' '}
    </>
  )
}

function describeEmptySpan(span: Span, today: string): string {
  if (!isOneDay(span)) return 'No reports on these days'
  return span.first === today ? 'No reports today' : 'No reports on this day'
}
