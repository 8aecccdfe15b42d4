import { coordinatesText } from '../../core/measures.ts'
import { addressOf } from '../../core/address.ts'
import type { ApiFact } from '../../core/device-facts.ts'
import type { Episode } from '../../core/trips.ts'
import { beginOf, visitsIn } from '../../core/visits.ts'
import { may } from '../../live/session.ts'
import { Isolated } from '../../ui/isolated.tsx'

/** The stays in geofences, `Yard 08:12 – 10:22`; a click goes to their begin. */
export function Visits({
  facts,
  clock,
  onMove,
}: {
  facts: readonly ApiFact[]
  clock: (at: number) => string
  onMove: (at: number) => void
}) {
  const visits = visitsIn(facts)
  if (visits.length === 0) return null
  return (
    <div class="stack tight">
      <h3 id="visits">Visits</h3>
      <ol class="events-of-day" role="list" aria-labelledby="visits">
        {visits.map((visit) => {
          const { geofenceId, name, from, to } = visit
          return (
            <li key={`${geofenceId} ${beginOf(visit)}`}>
              <button type="button" class="plain" onClick={() => onMove(beginOf(visit))}>
                <Isolated class="strong">{name}</Isolated>{' '}
                <span>
                  {from === undefined ? 'until ' : `${clock(from)} – `}
                  {to === undefined ? 'now' : clock(to)}
                </span>
              </button>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** Makes a geofence of the selected stop, unless it is in one. */
export function NamePlace({ of: episode }: { of: Episode | undefined }) {
  if (episode?.kind !== 'stop' || !may('geofences.edit')) return null
  if (episode.place?.geofenceId !== undefined) return null
  const query = new URLSearchParams({ new: coordinatesText(episode.position) })
  return (
    <p>
      <a class="button small" href={addressOf(`/geofences?${query}`)}>
        Name this place
      </a>
    </p>
  )
}
