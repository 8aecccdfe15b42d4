import type { StayedPlace } from '../../core/places.ts'
import { duration } from '../../core/times.ts'
import { coordinatesText } from '../../core/measures.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { formatCount } from '../../ui/shown.ts'

const MOST = 10

/** Lists the places visited in a range, longest total time first. */
export function Places({ of: places }: { of: readonly StayedPlace[] }) {
  const [first] = places
  if (first === undefined) return null
  return (
    <div class="stack near">
      <h3 id="stayed-places">Places</h3>
      <ol class="distances" aria-labelledby="stayed-places">
        {places.slice(0, MOST).map(({ position, name, ms, stays }) => (
          <li key={coordinatesText(position)}>
            <Isolated class="stayed-name">{name ?? coordinatesText(position)}</Isolated>
            <span class="distance-bar">
              <span style={{ width: `${(100 * ms) / first.ms}%` }} />
            </span>
            <span class="note">
              {duration(ms)}, {formatCount(stays, 'stop')}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
