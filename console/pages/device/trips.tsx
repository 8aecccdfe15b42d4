import './trips.css'
import { useEffect, useState } from 'preact/hooks'
import { dayText } from '../../core/date-words.ts'
import type { ApiFact } from '../../core/device-facts.ts'
import type { StayedPlace } from '../../core/places.ts'
import {
  isOneDay,
  dayCount,
  partsOf,
  spanBounds,
  spanQuery,
  spanText,
  weekOf,
} from '../../core/span.ts'
import { date, duration } from '../../core/times.ts'
import { pairVisits } from '../../core/visits.ts'
import {
  episodesCsv,
  fullBarDistance,
  totalsSince,
  type Episode,
  type Totals,
} from '../../core/trips.ts'
import { Loaded, FailedLine } from '../../ui/states.tsx'
import { formatClock, formatDistance, formatCount } from '../../ui/shown.ts'
import type { useLoad } from '../../ui/use-load.ts'
import { useActivity, useDayTotals, type DeviceDays } from './device-days.ts'
import { DeviceEvents } from './device-events.tsx'
import { TripList } from './trip-list.tsx'
import { addressOf, devicePath } from '../../core/address.ts'
import { coordinatesText } from '../../core/measures.ts'
import { placeText } from '../../core/place-words.ts'
import { may } from '../../live/session.ts'
import { pageAddress } from '../../ui/router.ts'
import { Places } from './places.tsx'

/**
 * Trips, stops and gaps on the displayed days; a click shows one of them on map and plots. For too
 * many days, only the distances are shown.
 */
export function Trips({
  of: loaded,
  selected,
  facts,
  stays,
  onMove,
  onSelect,
  ...page
}: DeviceDays & {
  of: ReturnType<typeof useLoad<readonly Episode[] | undefined>> | undefined
  selected: Episode | undefined
  facts: readonly ApiFact[]
  /** Stops in a range, with their places. */
  stays: readonly StayedPlace[]
  /** Selects a time. */
  onMove: (at: number) => void
  onSelect: (episode: Episode) => void
}) {
  const { deviceId, span, today, zone } = page
  const visits = pairVisits(facts)
  /** The time of day, with the day if it is not the displayed one. */
  function clock(at: number): string {
    const day = date(at, zone)
    const text = formatClock(at, { hasSeconds: false })
    return isOneDay(span) && day === span.first ? text : `${dayText(day, today)} ${text}`
  }
  return (
    <>
      <section class="trips-card card box stack some" aria-labelledby="trips">
        <h2 id="trips" class="unseen">
          Trips
        </h2>
        {loaded && (
          <Loaded of={loaded} lines={3}>
            {(episodes) =>
              episodes === undefined ? null : episodes.length === 0 ? (
                <p class="quiet">No trips, and no stops of five minutes or longer.</p>
              ) : (
                <>
                  <p class="trips-head">
                    {headText(totalsSince(episodes, spanBounds(span, zone).from))}
                  </p>
                  <TripList
                    {...page}
                    episodes={episodes}
                    visits={visits}
                    selected={selected}
                    onMove={onMove}
                    onSelect={onSelect}
                  />
                  <NamePlace of={selected} />
                  <p class="row">
                    <CsvLink
                      episodes={episodes}
                      facts={facts}
                      name={`${deviceId} ${span.first} trips.csv`}
                    />
                    <button type="button" class="small" onClick={() => print()}>
                      Print
                    </button>
                  </p>
                  <p class="on-paper-only">Driver ______________________ Date ____________</p>
                </>
              )
            }
          </Loaded>
        )}
        <Places of={stays} />
        {(loaded === undefined || loaded.data !== undefined) && <Distances {...page} />}
      </section>
      <DeviceEvents
        key={spanQuery(span, today, null)}
        of={facts}
        deviceId={deviceId}
        clock={clock}
        onMove={onMove}
      />
    </>
  )
}

/** `98.8 km · 7 trips · 2 h 47 min`. */
function headText({ trips, distanceMetres, lastedMs }: Totals): string {
  if (trips === 0) return 'No trips'
  return [formatDistance(distanceMetres), formatCount(trips, 'trip'), duration(lastedMs)].join(
    ' · ',
  )
}

function CsvLink({
  episodes,
  facts,
  name,
}: {
  episodes: readonly Episode[]
  facts: readonly ApiFact[]
  name: string
}) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const text = episodesCsv(episodes, pairVisits(facts))
    const made = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [episodes, facts])
  if (url === undefined) return null
  return (
    <a class="button small" href={url} download={name}>
      Trips as CSV
    </a>
  )
}

/** Days whose reports the service counts in one call. */
const MOST_DAYS = 1_000

/**
 * The distance of each day of a week or month, or of each month of a longer range, and the total.
 */
function Distances(page: DeviceDays) {
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
  const full = fullBarDistance(parts.map(({ sum }) => sum.distanceMetres))
  const failure = totals.failure.value
  const others = pageAddress.value.query.get('with')
  return (
    <div class="stack near">
      <h3 id="distances">{isOneDay(span) ? 'This week' : 'Distances'}</h3>
      {failure !== undefined && <FailedLine failure={failure} onRetry={totals.retry} />}
      <ol class="distances" aria-labelledby="distances">
        {parts.map(({ part, sum }) => (
          <li key={part.first}>
            <a
              href={addressOf(devicePath(deviceId) + spanQuery(part, today, others))}
              aria-current={part.first === span.first && isOneDay(span) ? 'date' : undefined}
            >
              {spanText(part, today)}
            </a>
            <span class="distance-bar">
              <span style={{ width: `${Math.min(100, (100 * sum.distanceMetres) / full)}%` }} />
            </span>
            <span class="note">{totalsText(sum)}</span>
          </li>
        ))}
      </ol>
      <p class="strong">In all {totalsText(sumOf(of), 'trip')}</p>
    </div>
  )
}

/** The known totals, with an ellipsis while more are being read. */
function totalsText(sum: Totals & { readonly isWhole: boolean }, unit?: 'trip'): string {
  const { trips, distanceMetres, lastedMs, isWhole } = sum
  if (trips === 0) return isWhole ? 'no trips' : '…'
  const many = unit && formatCount(trips, unit)
  const words = [formatDistance(distanceMetres), duration(lastedMs), many]
  return words.filter(Boolean).join(', ') + (isWhole ? '' : ' …')
}

/** Creates a geofence around the selected stop, unless the stop is in one. */
function NamePlace({ of: episode }: { of: Episode | undefined }) {
  if (episode?.kind !== 'stop' || !may('geofences.edit')) return null
  if (episode.place?.geofenceId !== undefined) return null
  const name = placeText(episode.place ?? null) ?? ''
  const query = new URLSearchParams({ new: coordinatesText(episode.position), name })
  return (
    <p>
      <a class="button small" href={addressOf(`/geofences?${query}`)}>
        Name this place
      </a>
    </p>
  )
}
