import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ShownStatus } from '../../core/live-device.ts'
import { dayText } from '../../core/date-words.ts'
import { dayCount, isOneDay, MOST_DAYS_OF_MONTH, spanBounds } from '../../core/span.ts'
import { date, duration } from '../../core/times.ts'
import { pointAt, type Track } from '../../core/track.ts'
import { placesOf, type Stay } from '../../core/places.ts'
import { placeText } from '../../core/place-words.ts'
import { episodeAt, totalsSince, type Episode, type Totals, type Trip } from '../../core/trips.ts'
import { useKeys } from '../../ui/keys.tsx'
import { Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { AtMoment } from './position-cards.tsx'
import type { DeviceDays } from './device-days.ts'
import { useFacts } from './device-events.tsx'
import { EmptyDay } from './empty-day.tsx'
import { Exports, PointTable } from './reports.tsx'
import { PlotChoice, Plots } from './plots.tsx'
import { ReplayOthers, useOthers } from './replay-others.tsx'
import { Replay } from './replay.tsx'
import { useMoment, TimeStrip } from './time-cursor.tsx'
import { TrackMap } from './track-map.tsx'
import { loadEpisodes, loadTrack, useReports, useSteps } from './track-data.ts'
import { Trips } from './trips.tsx'
import { formatCount, formatDistance, formatLength, formatSpeed } from '../../ui/shown.ts'

const SECOND_MS = 1_000
const EVERY_MS = 30_000
/** Beyond this number of days the coloured lines would overlap. */
const MOST_DAYS_COLOURED = 2

/**
 * The track of one or several days: map, slider, plots and table, with one time cursor for all of
 * them; beside them the report of that moment, then `silence`, the trips and `children`.
 */
export function TrackView({
  deviceId,
  span,
  today,
  zone,
  totals,
  status,
  silence,
  now,
  children,
}: DeviceDays & {
  /** The device's current connection status. */
  status: ShownStatus
  /** The reasons for its silence, if it is silent. */
  silence: ComponentChildren
  /** The device's last position, shown until a time is selected. */
  now: ComponentChildren
  children: ComponentChildren
}) {
  const { from, to } = useMemo(() => spanBounds(span, zone), [span, zone])
  const isOne = isOneDay(span)
  const endsToday = span.last >= today
  const range = { deviceId, from, to }
  const { data, failure, reload } = useLoad(
    (signal) => loadTrack(range, signal),
    [deviceId, from, to],
    isOne && endsToday ? { everyMs: EVERY_MS } : {},
  )
  // A year's list of trips is too long to read, and takes the service seconds.
  const hasTrips = dayCount(span) <= MOST_DAYS_OF_MONTH
  // The service reads all records for either, so the map takes precedence.
  const mayLoad = hasTrips && data !== undefined
  const episodes = useLoad(
    async (signal) => (mayLoad ? loadEpisodes(range, signal) : undefined),
    [deviceId, from, to, mayLoad],
    isOne && endsToday ? { everyMs: EVERY_MS } : {},
  )
  const stops = useMemo(
    () => (episodes.data ?? []).flatMap((one) => (one.kind === 'stop' ? [one] : [])),
    [episodes.data],
  )
  const facts = useFacts(range, hasTrips)
  const [selected, select] = useState<Episode>()
  useEffect(() => select(undefined), [from, to])
  const [chosen, choose] = useMoment(span, zone)
  const [isFollowing, setFollowing] = useState(false)
  const [tailMs, setTail] = useState<number>()
  const others = useOthers({ from, to })
  const known = totals.episodes.value
  // Trips of a year are known once all of its days have been read.
  const driven = hasTrips ? episodes.data : totals.isReading.value ? undefined : known.values()
  const drives = useMemo(() => {
    const own = [...(driven ?? [])].filter((one) => isTrip(one) && one.to > from && one.from < to)
    return [...own, ...others.flatMap(({ trips }) => trips)]
  }, [hasTrips ? episodes.data : known, driven === undefined, others, from, to])
  const isPlain = dayCount(span) > MOST_DAYS_COLOURED
  const places = useMemo(
    () => (isPlain ? placesOf(clipStays([...known.values()], from, to)) : []),
    [isPlain, known, from, to],
  )
  const first = data?.points[0]?.at ?? from
  const last = Math.max(first + SECOND_MS, data?.points.at(-1)?.at ?? to)
  const at = chosen ?? data?.points.at(-1)?.at ?? to
  const read = useReports(range, data, at)
  const { reports } = read
  const here = pointAt(reports, at)
  const point = reports[here]

  const onStep = useSteps(read, at, choose)
  useKeys({
    ArrowLeft: { label: 'Previous or next report', run: () => onStep(-1) },
    ArrowRight: { label: 'Previous or next report', run: () => onStep(1) },
  })

  // Live reports and a replay render this component many times; these lists are long.
  const trips = useMemo(
    () => (
      <Trips
        of={hasTrips ? episodes : undefined}
        deviceId={deviceId}
        span={span}
        today={today}
        zone={zone}
        totals={totals}
        selected={selected}
        facts={facts}
        stays={places}
        onMove={choose}
        onSelect={(episode) => {
          select(episode)
          choose(Math.max(from, episode.from))
        }}
      />
    ),
    [
      ...[hasTrips, episodes.data, episodes.failure, episodes.isLoading, totals, selected],
      ...[deviceId, span, today, zone, facts, places],
    ],
  )

  const shown = { at, onMove: choose }
  const isNow = chosen === undefined && endsToday
  return (
    <>
      <section class="day-main" aria-label="Track">
        {failure !== undefined && data !== undefined && (
          <FailedLine failure={failure} onRetry={reload} />
        )}
        {data === undefined && failure !== undefined ? (
          <Failed failure={failure} onRetry={reload} />
        ) : data?.points.length === 0 ? (
          <EmptyDay range={range} span={span} today={today} zone={zone} />
        ) : (
          <>
            <TrackMap
              key={deviceId}
              track={data}
              loadPart={(part, signal) => loadTrack(range, signal, part)}
              isPlain={isPlain}
              shows={`${from} ${to}`}
              others={others}
              places={places}
              tailMs={tailMs}
              stops={stops}
              selected={selected}
              at={at}
              status={isNow ? status : 'past'}
              isFollowing={isFollowing}
              onMove={choose}
            />
            {data === undefined ? (
              <Loading lines={3} what="Loading the day" />
            ) : (
              <>
                <div class="box day-strip-box">
                  <div class="strip-row row between">
                    <Replay
                      {...shown}
                      zone={zone}
                      first={first}
                      last={last}
                      isFollowing={isFollowing}
                      isAlone={others.length === 0}
                      drives={drives}
                      onFollow={setFollowing}
                      onPlay={setTail}
                    >
                      <ReplayOthers deviceId={deviceId} />
                    </Replay>
                    <TrackSummary
                      track={data}
                      trips={hasTrips ? episodes.data && totalsSince(episodes.data, from) : null}
                    />
                    <PlotChoice points={data.points} />
                  </div>
                  <TimeStrip
                    {...shown}
                    first={first}
                    last={last}
                    onStep={onStep}
                    bands={stops}
                    selected={selected}
                    marks={facts}
                  >
                    <Plots points={data.points} span={{ from: first, to: last }} zone={zone} />
                  </TimeStrip>
                </div>
                <details>
                  <summary>Table</summary>
                  <PointTable points={reports} hasDates={!isOne} {...shown} />
                </details>
              </>
            )}
          </>
        )}
      </section>
      <div class="day-side stack">
        {isNow ? now : null}
        {!isNow && point !== undefined && (
          <AtMoment
            at={at}
            point={point}
            next={reports[here + 1]}
            episode={episodeAt(episodes.data ?? [], at)}
            day={isOne ? undefined : dayText(date(at, zone), today)}
          />
        )}
        {silence}
        {data !== undefined && data.points.length > 0 && trips}
        {children}
        {data !== undefined && data.points.length > 0 && <Exports range={range} />}
      </div>
    </>
  )
}

function isTrip(one: Episode): one is Trip {
  return one.kind === 'trip'
}

/** The contents of the range. */
function clipStays(episodes: readonly Episode[], from: number, to: number): readonly Stay[] {
  return episodes.flatMap((one) => {
    if (one.kind !== 'stop') return []
    const ms = Math.min(one.to, to) - Math.max(one.from, from)
    return ms > 0 ? [{ position: one.position, name: placeText(one.place), ms }] : []
  })
}

/** The totals of all points of a track, and of its trips if these are listed. */
function TrackSummary({
  track,
  trips,
}: {
  track: Track
  /** Totals of trips; undefined while loading, null if trips are not listed. */
  trips: Totals | undefined | null
}) {
  const { total, points, maxSpeed, toleranceMetres } = track
  const formatTrips = (text: (totals: Totals) => string | undefined) =>
    trips === null ? undefined : trips === undefined ? '…' : text(trips)
  const top = formatSpeed(maxSpeed ?? undefined)
  const left =
    points.length < total
      ? `Omitted points are within ${formatLength(Math.ceil(toleranceMetres))} of the line`
      : undefined
  return (
    <p class="track-summary two-lines" title={left}>
      {[
        formatTrips(({ distanceMetres }) => formatDistance(distanceMetres)),
        formatTrips(({ lastedMs }) => duration(lastedMs)),
        top && `top ${top}`,
        formatCount(total, 'report'),
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  )
}
