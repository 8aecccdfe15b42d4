import Joi from 'joi'
import { variable } from './variable.ts'

/** A map over the console's own base map: raster tiles, or a PMTiles file here or elsewhere. */
export type MapConfig = {
  /** Plain text. */
  readonly attribution?: string
  readonly maxZoom?: number
} & (
  | { readonly kind: 'tiles'; readonly url: string }
  | { readonly kind: 'pmtiles'; readonly url: string }
  | { readonly kind: 'pmtiles file'; readonly file: string }
)

export type ConsoleConfig = {
  /** Where browsers reach the console; without a slash at the end. Absent: at the root of the admin API. */
  readonly consolePublicUrl?: string
  /** The URLs at which devices and the admin API reach the ingest API; without a slash at the end. */
  readonly ingestPublicUrl?: string
  readonly ingestInternalUrl?: string
  readonly map?: MapConfig
}

/** The path of a public URL, with a slash at both ends; `/` without one. */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '/' : new URL(`${publicUrl}/`).pathname
}

const UNSPECIFIED = ['0.0.0.0', '[::]']

const baseUrl = (name: string, whose: string) =>
  variable(name, custom(parseBaseUrl), {
    expected: `the http:// or https:// URL at which ${whose}, without a user name, ? and #, and with a host other than 0.0.0.0, for example https://gps.example.com`,
  })

export const CONSOLE_VARIABLES = {
  CONSOLE_PUBLIC_URL: baseUrl('CONSOLE_PUBLIC_URL', 'browsers reach the console'),
  INGEST_PUBLIC_URL: baseUrl('INGEST_PUBLIC_URL', 'devices reach the ingest API'),
  INGEST_INTERNAL_URL: baseUrl('INGEST_INTERNAL_URL', 'the admin API reaches the ingest API'),
  MAP_TILE_URL: variable('MAP_TILE_URL', custom(parseTileUrl), {
    expected:
      'an http:// or https:// URL with {z}, {x} and {y} after its host and no other placeholder, for example https://tile.openstreetmap.org/{z}/{x}/{y}.png',
  }),
  MAP_PMTILES: variable('MAP_PMTILES', custom(parsePmtiles), {
    expected: 'a PMTiles file on this machine, or its http:// or https:// URL',
  }),
  MAP_ATTRIBUTION: variable(
    'MAP_ATTRIBUTION',
    Joi.string()
      .max(500)
      .pattern(/^[^<>\p{Cc}]+$/u),
    {
      expected:
        'a plain text of at most 500 characters without < and >, for example © OpenStreetMap contributors',
    },
  ),
  MAP_MAX_ZOOM: variable('MAP_MAX_ZOOM', Joi.number().integer().min(0).max(24), {
    expected: 'a whole number from 0 to 24',
  }),
}

export type ConsoleVariables = {
  CONSOLE_PUBLIC_URL?: string
  INGEST_PUBLIC_URL?: string
  INGEST_INTERNAL_URL?: string
  MAP_TILE_URL?: string
  MAP_PMTILES?: string
  MAP_ATTRIBUTION?: string
  MAP_MAX_ZOOM?: number
}

/** The fault of variables that are invalid in combination. */
export function consoleFault(v: ConsoleVariables): string | undefined {
  if (v.MAP_TILE_URL !== undefined && v.MAP_PMTILES !== undefined) {
    return 'MAP_TILE_URL and MAP_PMTILES are two maps: set one of them'
  }
  if (v.MAP_TILE_URL !== undefined || v.MAP_PMTILES !== undefined) return undefined
  const name = (['MAP_ATTRIBUTION', 'MAP_MAX_ZOOM'] as const).find((one) => v[one] !== undefined)
  return name && `${name} is about a map: set MAP_TILE_URL or MAP_PMTILES too`
}

export function consoleConfig(v: ConsoleVariables): ConsoleConfig {
  const map = mapConfig(v)
  return {
    ...(v.CONSOLE_PUBLIC_URL !== undefined && { consolePublicUrl: v.CONSOLE_PUBLIC_URL }),
    ...(v.INGEST_PUBLIC_URL !== undefined && { ingestPublicUrl: v.INGEST_PUBLIC_URL }),
    ...(v.INGEST_INTERNAL_URL !== undefined && { ingestInternalUrl: v.INGEST_INTERNAL_URL }),
    ...(map !== undefined && { map }),
  }
}

function mapConfig(v: ConsoleVariables): MapConfig | undefined {
  const rest = {
    ...(v.MAP_ATTRIBUTION !== undefined && { attribution: v.MAP_ATTRIBUTION }),
    ...(v.MAP_MAX_ZOOM !== undefined && { maxZoom: v.MAP_MAX_ZOOM }),
  }
  const { MAP_TILE_URL: tiles, MAP_PMTILES: pmtiles } = v
  if (tiles !== undefined) return { kind: 'tiles', url: tiles, ...rest }
  if (pmtiles === undefined) return undefined
  return webUrl(pmtiles) === undefined
    ? { kind: 'pmtiles file', file: pmtiles, ...rest }
    : { kind: 'pmtiles', url: pmtiles, ...rest }
}

function custom(parse: (text: string) => string | undefined): Joi.StringSchema {
  return Joi.string().custom((text: string, helpers) => parse(text) ?? helpers.error('any.invalid'))
}

function parseBaseUrl(text: string): string | undefined {
  const url = webUrl(text)
  if (url === undefined || UNSPECIFIED.includes(url.hostname) || /[?#]/.test(text)) {
    return undefined
  }
  return url.href.replace(/\/+$/, '')
}

function parseTileUrl(text: string): string | undefined {
  const rest = ['{z}', '{x}', '{y}'].reduce((left, place) => left.replace(place, '0'), text)
  const afterHost = text.replace(/^[^/]*\/\/[^/]*/, '')
  const placed = ['{z}', '{x}', '{y}'].every((place) => afterHost.includes(place))
  return placed && !/[{}]/.test(rest) && webUrl(rest) !== undefined ? text : undefined
}

function parsePmtiles(text: string): string | undefined {
  return webUrl(text) !== undefined || !/^[a-z][a-z\d+.-]+:/i.test(text) ? text : undefined
}

function webUrl(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username === '' && url.password === '' ? url : undefined
}
