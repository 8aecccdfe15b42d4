import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageHeaders } from './page-policy.ts'
import type { ConsolePage } from './serve-console.ts'
import { readSite } from './site-files.ts'

/** Beside the compiled services; among the sources there is neither a site nor a map. */
const FOLDER = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console as `npm run build` makes it. */
export function builtConsole(): ConsolePage {
  return {
    site: readSite(join(FOLDER, 'site')),
    maps: { '/map/world.pmtiles': join(FOLDER, 'map', 'world.pmtiles') },
    headers: pageHeaders(),
  }
}
