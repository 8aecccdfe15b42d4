import { useEffect, useState } from 'preact/hooks'
import { api, urlOf } from '../../api/client.ts'
import { metresText, speedText } from '../../core/measures.ts'
import { Facts } from '../../ui/facts.tsx'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { Plots } from './plots.tsx'
import { PointTable } from './point-table.tsx'
import { Replay } from './replay.tsx'
import { TrackMap } from './track-map.tsx'
import { movingText, readTrack, type Track } from '../../core/track.ts'

const FORMATS = ['gpx', 'geojson', 'csv', 'ndjson'] as const

/** A day's track: map, plots and table, with one time cursor for all of them. */
export function TrackView({
  deviceId,
  from,
  to,
  zone,
  isToday,
}: {
  deviceId: string
  from: number
  to: number
  zone: string
  isToday: boolean
}) {
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { data, failure, reload } = useLoad(
    async (signal) =>
      readTrack(
        await api.get('/devices/{deviceId}/track', {
          path: { deviceId },
          query: range,
          signal,
        }),
      ),
    [deviceId, from, to],
    isToday ? { everyMs: 30_000 } : {},
  )
  const [cursor, setCursor] = useState<number>()
  const [isFollowing, setFollowing] = useState(false)
  useEffect(() => setCursor(undefined), [deviceId, from])

  if (data === undefined && failure !== undefined) {
    return <Failed failure={failure} onRetry={reload} />
  }
  if (data?.points.length === 0) {
    return (
      <Empty title={isToday ? 'No reports today' : 'No reports on this day'}>
        <p>Days with reports have a bar above: choose one of them.</p>
      </Empty>
    )
  }
  const first = data?.points[0]?.at ?? from
  const last = data?.points.at(-1)?.at ?? to
  const at = Math.min(last, Math.max(first, cursor ?? last))
  return (
    <section class="stack some" aria-label="Track">
      {failure !== undefined && <FailedLine failure={failure} onRetry={reload} />}
      {data === undefined ? <Loading lines={1} what="Loading the day" /> : <Summary track={data} />}
      <TrackMap key={deviceId} track={data} day={from} at={at} isFollowing={isFollowing} />
      {data !== undefined && (
        <>
          <Replay
            {...{ first, last, at, zone, isFollowing }}
            onMove={setCursor}
            onFollow={setFollowing}
          />
          <Plots points={data.points} at={at} zone={zone} onMove={setCursor} />
          <details>
            <summary>Table</summary>
            <PointTable points={data.points} at={at} zone={zone} onMove={setCursor} />
          </details>
        </>
      )}
      <p class="row">
        <span class="quiet">Export the whole day:</span>
        {FORMATS.map((format) => (
          <a
            key={format}
            class="button small"
            download
            href={urlOf('/devices/{deviceId}/positions', {
              path: { deviceId },
              query: { ...range, format },
            })}
          >
            {format.toUpperCase()}
          </a>
        ))}
      </p>
    </section>
  )
}

function Summary({ track }: { track: Track }) {
  const { total, points, distanceMetres, movingSeconds, maxSpeed, toleranceMetres } = track
  const drawn = (
    <span title="The points that are left out lie closer to the line than this">
      within {metresText(Math.ceil(toleranceMetres))}
    </span>
  )
  return (
    <Facts
      class="track-summary row"
      of={[
        ['Distance', metresText(distanceMetres)],
        ['Moving', movingText(movingSeconds)],
        ['Top speed', speedText(maxSpeed ?? undefined) ?? '–'],
        ['Reports', total.toLocaleString('en')],
        ['Drawn', points.length < total ? drawn : undefined],
      ]}
    />
  )
}
