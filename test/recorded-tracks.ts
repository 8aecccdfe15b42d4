import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(new URL('fixtures/tracks', import.meta.url))
const beside = fileURLToPath(new URL('../../shared/data/tracks', import.meta.url))

/** Tracks as GPS loggers write them: the project's tracks, and any in a folder next to it. */
export const tracks = [own, beside].filter(existsSync).flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.gpx'))
    .map((name) => join(folder, name)),
)

export type WrittenPoint = {
  readonly latitude: number
  readonly longitude: number
  readonly altitude: number | undefined
  readonly time: string | undefined
}

/** A track's points, found by a plain reading of the file, in order. */
export function pointsOf(file: string): WrittenPoint[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/<trkpt\s([^>]*?)(?:\/>|>([^]*?)<\/trkpt>)/g)].map(
    ([, at = '', inner = '']) => {
      const altitude = /<ele>([^<]+)<\/ele>/.exec(inner)?.[1]
      return {
        latitude: Number(/lat="([^"]+)"/.exec(at)?.[1]),
        longitude: Number(/lon="([^"]+)"/.exec(at)?.[1]),
        altitude: altitude === undefined ? undefined : Number(altitude),
        time: /<time>([^<]+)<\/time>/.exec(inner)?.[1],
      }
    },
  )
}
