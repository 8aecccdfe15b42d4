import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  basePathOf,
  type ConsoleConfig,
  type MapConfig,
} from '../../runtime/config/console-variables.ts'
import { mapFilePath } from '../map-view.ts'
import { pageHeaders } from './page-policy.ts'
import type { ConsoleFiles } from './serve-console.ts'
import { readSite } from './site-files.ts'

/** Next to the compiled services; the sources contain neither a site nor a map. */
const FOLDER = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console as built by `npm run build`, with the maps that it offers. */
export function builtConsole({
  maps,
  consolePublicUrl,
}: Pick<ConsoleConfig, 'maps' | 'consolePublicUrl'>): ConsoleFiles {
  const files = maps.flatMap((map, place) =>
    map.kind === 'pmtiles file' ? [[mapFilePath(place), map.file] as const] : [],
  )
  return {
    site: readSite(join(FOLDER, 'site'), basePathOf(consolePublicUrl)),
    maps: {
      '/map/world.pmtiles': join(FOLDER, 'map', 'world.pmtiles'),
      ...Object.fromEntries(files),
    },
    headers: pageHeaders({ images: originsOf('tiles', maps), data: originsOf('pmtiles', maps) }),
  }
}

function originsOf(kind: 'tiles' | 'pmtiles', maps: readonly MapConfig[]): string[] {
  const origins = maps.flatMap((map) => (map.kind === kind ? [new URL(map.url).origin] : []))
  return [...new Set(origins)]
}
