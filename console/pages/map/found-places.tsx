import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { announce } from '../../ui/announcements.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { useDebounced } from '../../ui/pick.tsx'
import { formatDistance } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { flyToPlace, middleOfMap } from './fleet-map.tsx'
import { searchText } from './map-state.ts'
import { setPin } from './pin.ts'

type FoundPlace = components['schemas']['FoundPlace']

const TYPED_MS = 250
const FEWEST_LETTERS = 2
/** Limit when devices match too: the list needs the room for them. */
const MOST_BESIDE_DEVICES = 3
const KINDS = { geofence: 'Geofence', street: 'Street', town: 'Town' } as const

/** Enter was pressed in a search that no device matches, perhaps before its places were found. */
export const wantsFirstPlace = signal(false)

/** The geofences, streets and towns that the search of devices finds too. */
export function FoundPlaces({ areAlone }: { areAlone: boolean }) {
  const typed = searchText.value.trim()
  const q = useDebounced(typed, TYPED_MS)
  const { data, failure, isLoading } = useLoad<readonly FoundPlace[]>(
    async (signal) => {
      if (q.length < FEWEST_LETTERS) return []
      const near = middleOfMap()
      return (await api.get('/places/search', { query: { q, ...(near && { near }) }, signal }))
        .items
    },
    [q],
  )
  const places = q === typed ? (data ?? []) : []
  const isFound = q === typed && !isLoading
  useEffect(() => {
    if (!wantsFirstPlace.value || !isFound) return
    wantsFirstPlace.value = false
    if (places[0] !== undefined) choose(places[0])
  }, [wantsFirstPlace.value, isFound])
  if (typed === '') return null
  if (failure !== undefined) return <FailedLine failure={failure} />
  if (places.length === 0) return null
  return (
    <section class="found-places" aria-label="Places">
      <ul role="list">
        {places.slice(0, areAlone ? undefined : MOST_BESIDE_DEVICES).map((place) => (
          <li key={`${place.kind} ${place.latitude} ${place.longitude}`}>
            <button type="button" class="plain" onClick={() => choose(place)}>
              <Isolated class="one-line">{nameOfPlace(place)}</Isolated>{' '}
              <span class="note">
                {[KINDS[place.kind], formatDistance(place.distanceMetres ?? undefined)]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function nameOfPlace({ name, region, country }: FoundPlace): string {
  return [name, region ?? country].filter(Boolean).join(', ')
}

function choose(place: FoundPlace): void {
  const { latitude, longitude } = place
  const name = nameOfPlace(place)
  setPin({ latitude, longitude, name })
  flyToPlace(place)
  announce(name)
  // The pressed button disappears with the search.
  document.querySelector<HTMLElement>('[data-search]')?.focus()
}
