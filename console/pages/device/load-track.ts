import { api } from '../../api/client.ts'
import { joinTracks, partsOfTrack, trackOf, type Track } from '../../core/track.ts'
import type { DeviceRange } from './use-reports.ts'

/** The track of a range; years come one after the other, because each takes the service seconds. */
export async function loadTrack(
  { deviceId, from, to }: DeviceRange,
  signal: AbortSignal,
): Promise<Track> {
  const tracks: Track[] = []
  for (const query of partsOfTrack({ from, to })) {
    tracks.push(
      trackOf(await api.get('/devices/{deviceId}/track', { path: { deviceId }, query, signal })),
    )
  }
  return joinTracks(tracks)
}
