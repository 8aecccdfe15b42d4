import { basename } from 'node:path'
import Joi from 'joi'
import { variable } from './variables.ts'

/** A map over the console's built-in base map: raster tiles, or a PMTiles file, local or remote. */
export type MapConfig = {
  /** The map's name in the console. */
  readonly name: string
  /** Plain text. */
  readonly attribution?: string
  readonly maxZoom?: number
  /**
   * The party that learns which area an operator looks at: it is loaded only after the operator has
   * chosen it.
   */
  readonly seenBy?: string
} & (
  | { readonly kind: 'tiles'; readonly url: string }
  | { readonly kind: 'pmtiles'; readonly url: string }
  | { readonly kind: 'pmtiles file'; readonly file: string }
)

export type ConsoleConfig = {
  /**
   * The console's URL for browsers, without a trailing slash; by default the root of the admin
   * API.
   */
  readonly consolePublicUrl?: string
  /** The URLs at which devices and the admin API reach the ingest API, without a trailing slash. */
  readonly ingestPublicUrl?: string
  readonly ingestInternalUrl?: string
  /** A new operator gets the first map that no third party sees. */
  readonly maps: readonly MapConfig[]
}

const OPENSTREETMAP: MapConfig = {
  name: 'Streets (OpenStreetMap)',
  kind: 'tiles',
  url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png',
  attribution: '© OpenStreetMap contributors',
  maxZoom: 19,
  seenBy: 'OpenStreetMap',
}

/** Returns the path of a public URL, with a slash at both ends; `/` if the URL has no path. */
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
  MAP_TILE_URL: variable('MAP_TILE_URL', custom(parseEach(parseTileUrl)), {
    expected:
      'an http:// or https:// URL with {z}, {x} and {y} after its host and no other placeholder, or several, separated by blanks, each also as Name=URL, for example https://tile.example.com/{z}/{x}/{y}.png',
  }),
  MAP_PMTILES: variable('MAP_PMTILES', custom(parseEach(parsePmtiles)), {
    expected:
      'a PMTiles file on this machine, or its http:// or https:// URL, or several, separated by blanks, each also as Name=URL; %20 is a blank in a name or a path',
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
  MAP_STREETS: variable('MAP_STREETS', Joi.string().valid('osm', 'off').default('osm'), {
    expected: 'osm or off',
  }),
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
  MAP_STREETS: 'osm' | 'off'
}

/** The fault of variables whose combination is invalid. */
export function consoleFault(v: ConsoleVariables): string | undefined {
  if (v.MAP_TILE_URL !== undefined || v.MAP_PMTILES !== undefined) return undefined
  const name = (['MAP_ATTRIBUTION', 'MAP_MAX_ZOOM'] as const).find((one) => v[one] !== undefined)
  return name && `${name} needs a map: set MAP_TILE_URL or MAP_PMTILES too`
}

export function consoleConfig(v: ConsoleVariables): ConsoleConfig {
  return {
    ...(v.CONSOLE_PUBLIC_URL !== undefined && { consolePublicUrl: v.CONSOLE_PUBLIC_URL }),
    ...(v.INGEST_PUBLIC_URL !== undefined && { ingestPublicUrl: v.INGEST_PUBLIC_URL }),
    ...(v.INGEST_INTERNAL_URL !== undefined && { ingestInternalUrl: v.INGEST_INTERNAL_URL }),
    maps: [...parseMaps(v), ...(v.MAP_STREETS === 'osm' ? [OPENSTREETMAP] : [])],
  }
}

function parseMaps(v: ConsoleVariables): MapConfig[] {
  const rest = {
    ...(v.MAP_ATTRIBUTION !== undefined && { attribution: v.MAP_ATTRIBUTION }),
    ...(v.MAP_MAX_ZOOM !== undefined && { maxZoom: v.MAP_MAX_ZOOM }),
  }
  return [
    ...parseNamedUrls(v.MAP_TILE_URL).map(({ name, place }) => {
      return { name: name ?? new URL(place).host, kind: 'tiles', url: place, ...rest } as const
    }),
    ...parseNamedUrls(v.MAP_PMTILES).map(({ place, name = basename(escapeSpaces(place)) }) => {
      if (webUrl(place) !== undefined)
        return { name, kind: 'pmtiles', url: place, ...rest } as const
      return { name, kind: 'pmtiles file', file: escapeSpaces(place), ...rest } as const
    }),
  ]
}

/** Splits a variable with several maps, each `url` or `name=url`. */
function parseNamedUrls(text = ''): { readonly name?: string; readonly place: string }[] {
  return text.split(/\s+/).flatMap((part) => {
    if (part === '') return []
    // An = in a URL always follows one of these characters, which names cannot contain.
    const [, name, place] = /^([^=:/?#]+)=(.+)$/.exec(part) ?? []
    if (name === undefined || place === undefined) return [{ place: part }]
    return [{ name: escapeSpaces(name), place }]
  })
}

/** Spaces separate maps, so a space within a name or path is written as %20. */
function escapeSpaces(text: string): string {
  return text.replaceAll('%20', ' ')
}

/** The text, if each map in it is valid. */
function parseEach(parse: (place: string) => string | undefined) {
  return (text: string) => {
    const places = parseNamedUrls(text)
    const areValid = places.every(({ place }) => parse(place) !== undefined)
    return places.length > 0 && areValid ? text : undefined
  }
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
