import { useEffect, useState } from 'preact/hooks'
import { dayText } from '../../core/days.ts'
import { coordinatesText } from '../../core/measures.ts'
import { isOneDay } from '../../core/span.ts'
import { date, preciseDuration } from '../../core/times.ts'
import { episodesCsv, type Episode } from '../../core/trips.ts'
import { Loaded } from '../../ui/states.tsx'
import { shownClock, shownDistance, shownSpeed } from '../../ui/shown.ts'
import type { useLoad } from '../../ui/use-load.ts'
import type { DeviceDays } from './device-days.ts'
import { Distances } from './distances.tsx'

/**
 * Trips, stops and gaps along the shown days; a click shows one of them on map and plots. Of too many
 * days there are only the distances.
 */
export function Trips({
  of: loaded,
  selected,
  onSelect,
  ...page
}: DeviceDays & {
  of: ReturnType<typeof useLoad<readonly Episode[] | undefined>> | undefined
  selected: Episode | undefined
  onSelect: (episode: Episode) => void
}) {
  const { deviceId, span, today, zone } = page
  /** The time of day, with its day where that is not the one shown. */
  function clock(at: number): string {
    const day = date(at, zone)
    const text = shownClock(at, { hasSeconds: false })
    return isOneDay(span) && day === span.first ? text : `${dayText(day, today)} ${text}`
  }
  return (
    <section class="card box stack some" aria-labelledby="trips">
      <h2 id="trips">Trips</h2>
      {loaded && (
        <Loaded of={loaded} lines={3}>
          {(episodes) =>
            episodes === undefined ? null : episodes.length === 0 ? (
              <p class="quiet">No trips, and no stops of five minutes or longer.</p>
            ) : (
              <>
                <ol class="trips">
                  {episodes.map((one) => (
                    <li key={one.from}>
                      <button
                        type="button"
                        class={`plain trip ${one.kind}`}
                        aria-pressed={one.from === selected?.from}
                        onClick={() => onSelect(one)}
                      >
                        <span class="strong">
                          {clock(one.from)} – {clock(one.to)}
                        </span>
                        <span class="quiet">{wordsOf(one)}</span>
                      </button>
                    </li>
                  ))}
                </ol>
                <CsvLink episodes={episodes} name={`${deviceId} ${span.first} trips.csv`} />
              </>
            )
          }
        </Loaded>
      )}
      {(loaded === undefined || loaded.data !== undefined) && <Distances {...page} />}
    </section>
  )
}

function wordsOf(one: Episode): string {
  const lasted = preciseDuration(one.to - one.from)
  switch (one.kind) {
    case 'trip': {
      const top = shownSpeed(one.maxSpeed)
      const words = [shownDistance(one.distanceMetres), lasted, top && `top ${top}`]
      return words.filter(Boolean).join(' · ')
    }
    case 'stop':
      return `Stopped ${lasted} at ${coordinatesText(one.position)}`
    case 'gap':
      return `Gap of ${lasted}: location unknown`
  }
}

function CsvLink({ episodes, name }: { episodes: readonly Episode[]; name: string }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([episodesCsv(episodes)], { type: 'text/csv' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [episodes])
  if (url === undefined) return null
  return (
    <p>
      <a class="button small" href={url} download={name}>
        Trips as CSV
      </a>
    </p>
  )
}
