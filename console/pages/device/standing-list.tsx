import './standing-list.css'
import { Shapes, TriangleAlert } from 'lucide'
import type { components } from '../../api/schema.ts'
import { addressOf } from '../../core/address.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Time } from '../../ui/time.tsx'

type ApiStanding = components['schemas']['Standing']
type Listed = readonly (ApiStanding | string)[] | undefined

/** The rules raised for a device, and the geofences it is in, each with its start. */
export function StandingList({
  of: { inside, raised },
}: {
  of: { inside?: Listed; raised?: Listed }
}) {
  const rules = sortByName(raised)
  const geofences = sortByName(inside)
  if (rules.length + geofences.length === 0) return null
  return (
    <ul class="standings row" aria-label="Raised rules and geofences">
      {rules.map((one) => (
        <li key={one.id} class="raised">
          <Icon of={TriangleAlert} small />
          <Standing of={one} path={`/events?ruleId=${one.id}`} />
        </li>
      ))}
      {geofences.map((one) => (
        <li key={one.id}>
          <Icon of={Shapes} small />
          <Standing of={one} path={`/geofences?geofence=${one.id}`} />
        </li>
      ))}
    </ul>
  )
}

function Standing({ of: { name, since }, path }: { of: ApiStanding; path: string }) {
  return (
    <span>
      <a href={addressOf(path)}>
        <Isolated>{name}</Isolated>
      </a>
      {since !== null && (
        <>
          {' since '}
          <Time at={since} />
        </>
      )}
    </span>
  )
}

/** Lists have only the ids. */
function sortByName(standings: Listed = []): readonly ApiStanding[] {
  return standings.filter((one): one is ApiStanding => typeof one !== 'string')
}
