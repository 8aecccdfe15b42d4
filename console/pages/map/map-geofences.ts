import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { PaintedGeofence } from '../../map/geofence-painter.ts'
import { paintedOf, useGeofences, type ApiGeofence } from '../geofences/use-definitions.ts'
import { chosenGeofence, showsGeofences } from './map-state.ts'

/** The account's geofences, for the list's filter. */
export const mapGeofences = signal<readonly ApiGeofence[]>([])

/** The geofences that the map shows: all if the operator wants them, otherwise the one that is filtered by. */
export function usePaintedGeofences(): readonly PaintedGeofence[] {
  const { data } = useGeofences()
  useEffect(() => {
    if (data !== undefined) mapGeofences.value = data
  }, [data])
  const isShown = showsGeofences.value === 'on'
  const only = chosenGeofence.value
  return useMemo(
    () => (data ?? []).filter(({ id }) => isShown || id === only).map(paintedOf),
    [data, isShown, only],
  )
}
