import { useRef } from 'preact/hooks'
import { metresBetween, type Coordinates } from '../../../schemas/geo/distance.ts'
import { api } from '../../api/client.ts'
import { placeText } from '../../core/place-words.ts'
import { useLoad } from '../../ui/use-load.ts'
import { useResting } from './track-data.ts'

/** Four decimals are eleven metres. */
const DECIMALS = 4
/** A name remains displayed up to this far from where it was read, until the next is read. */
const NEAR_METRES = 500

/** The place name of a position, once the position has rested and its name is read. */
export function usePlace(position: Coordinates): string | undefined {
  const { latitude, longitude } = position
  const resting = useResting(`${latitude.toFixed(DECIMALS)},${longitude.toFixed(DECIMALS)}`)
  const { data } = useLoad(
    async (signal) => {
      const { items } = await api.get('/places', { query: { at: [resting] }, signal })
      return { position, name: placeText(items[0] ?? null) }
    },
    [resting],
  )
  const latest = useRef(data)
  latest.current = data ?? latest.current
  const known = latest.current
  return known && metresBetween(known.position, position) < NEAR_METRES ? known.name : undefined
}
