import { computed } from '@preact/signals'
import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { coordinatesText } from '../../core/measures.ts'
import { visitsPath } from '../../core/visits-path.ts'
import { go, pageAddress, setQuery } from '../../ui/router.ts'
import type { Right } from '../../core/session-rules.ts'

/** A place found by search or picked on the map, with the name it was found by. */
export type Pin = Coordinates & { readonly name?: string | undefined }

/** The spot from whose distance the devices are listed, from the address. */
export const pin = computed<Pin | undefined>(() => {
  const { query } = pageAddress.value
  const [latitude = NaN, longitude = NaN] = (query.get('near') ?? '').split(',').map(Number)
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return isPlace ? { latitude, longitude, name: query.get('place') ?? undefined } : undefined
})

/** Lists the devices by their distance from there. */
export function setPin(at: Pin): void {
  setQuery({
    near: coordinatesText(at).replace(' ', ''),
    place: at.name,
    q: undefined,
    sort: undefined,
    device: undefined,
    alarm: undefined,
  })
}

export function removePin(): void {
  setQuery({ near: undefined, place: undefined })
}

/** An action on a place on the map, in its menu and on a pin's card. */
export type SpotAction = {
  readonly word: string
  readonly right?: Right
  readonly run: (at: Pin) => void
}

export const SPOT_ACTIONS: readonly SpotAction[] = [
  { word: 'Nearest devices', run: setPin },
  { word: 'Who was here?', run: (at) => go(visitsPath(at)) },
  { word: 'New geofence here', right: 'geofences.edit', run: drawGeofence },
]

function drawGeofence(at: Pin): void {
  const query = new URLSearchParams({ new: coordinatesText(at), name: at.name ?? '' })
  go(`/geofences?${query}`)
}
