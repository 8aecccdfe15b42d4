import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { api } from '../../api/client.ts'
import { placeText } from '../../core/place-words.ts'
import { useLoad } from '../../ui/use-load.ts'
import { useResting } from './track-data.ts'

/** Four decimals are eleven metres. */
const DECIMALS = 4

/** The place of a position in words, once it has rested there and its name is read. */
export function usePlace({ latitude, longitude }: Coordinates): string | undefined {
  const at = `${latitude.toFixed(DECIMALS)},${longitude.toFixed(DECIMALS)}`
  const resting = useResting(at)
  const { data } = useLoad(
    (signal) => api.get('/places', { query: { at: [resting] }, signal }),
    [resting],
  )
  return at === resting ? placeText(data?.items[0] ?? null) : undefined
}
