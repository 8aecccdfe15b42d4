import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  basePathOf,
  type ConsoleConfig,
  type MapConfig,
} from '../../runtime/config/console-variables.ts'
import { mapFilePath } from '../console.ts'
import type { ConsoleFiles } from './serve-console.ts'
import { readSite } from './site-files.ts'

/** Next to the compiled services; the source tree contains neither a site nor a map. */
const FOLDER = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console as built by `npm run build`, with the maps that it offers. */
export function findBuiltConsole({
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

/**
 * Browser features that the console never uses, and that an injected script must not use either.
 */
const UNUSED = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer'],
  ...['microphone', 'midi', 'payment', 'serial', 'usb'],
]

/**
 * The headers of every file of the console. Scripts and styles load only from this origin; where
 * text becomes markup, the browser enforces a Trusted Types policy.
 * @param mapOrigins of a tile service that operators have configured.
 */
export function pageHeaders({
  images = [],
  data = [],
}: {
  readonly images?: readonly string[]
  readonly data?: readonly string[]
} = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    ["connect-src 'self'", ...data].join(' '),
    ["img-src 'self' data: blob:", ...images].join(' '),
    "base-uri 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
    'X-Content-Type-Options': 'nosniff',
    // Tile services want to know which site shows their map, but paths contain device ids.
    'Referrer-Policy': 'strict-origin-when-cross-origin',
  }
}
