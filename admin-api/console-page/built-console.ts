import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { basePathOf, type ConsoleConfig } from '../../runtime/config/console-variables.ts'
import { MAP_FILE_PATH } from '../console.ts'
import { pageHeaders } from './page-policy.ts'
import type { ConsolePage } from './serve-console.ts'
import { readSite } from './site-files.ts'

/** Next to the compiled services; the sources contain neither a site nor a map. */
const FOLDER = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console as built by `npm run build`, with the map that operators have configured. */
export function builtConsole({
  map,
  consolePublicUrl,
}: Pick<ConsoleConfig, 'map' | 'consolePublicUrl'>): ConsolePage {
  return {
    site: readSite(join(FOLDER, 'site'), basePathOf(consolePublicUrl)),
    maps: {
      '/map/world.pmtiles': join(FOLDER, 'map', 'world.pmtiles'),
      ...(map?.kind === 'pmtiles file' && { [MAP_FILE_PATH]: map.file }),
    },
    headers: pageHeaders(mapOrigins(map)),
  }
}

function mapOrigins(map: ConsoleConfig['map']): Parameters<typeof pageHeaders>[0] {
  if (map === undefined || map.kind === 'pmtiles file') return {}
  const { origin } = new URL(map.url)
  return map.kind === 'tiles' ? { images: [origin] } : { data: [origin] }
}
