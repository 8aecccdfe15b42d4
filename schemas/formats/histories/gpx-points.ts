import { typeText } from '../typed-attributes.ts'
import { parseJsonText } from '../values.ts'
import { localName, xmlReader } from './xml-reader.ts'

/** The creator of our own GPX export, which has attributes in `gps:attributes`. */
export const OUR_CREATOR = 'gps-position-ingestion'

/** A track point from the file. */
export type GpxPoint = {
  readonly line: number
  readonly latitude: string | undefined
  readonly longitude: string | undefined
  /** The name of its track. */
  readonly track: string | undefined
  /** The texts of its GPX elements, by name. */
  readonly own: ReadonlyMap<string, string>
  /**
   * The texts of elements of other namespaces, by name without prefix; the first of each name
   * counts.
   */
  readonly extensions: ReadonlyMap<string, string>
  /** The attributes in our own export, which may have any name. */
  readonly attributes: ReadonlyMap<string, unknown>
}

/** A position that was never recorded: a planned or marked one. */
export type GpxOther = { readonly line: number; readonly what: 'way points' | 'points of routes' }

const OTHERS = new Map<string, GpxOther['what']>([
  ['wpt', 'way points'],
  ['rtept', 'points of routes'],
])

/** Reads the track points of GPX 1.0 and 1.1 from chunks of text. */
export function gpxPoints(): {
  /** The program that wrote the file, once the root element is read. */
  readonly creator: () => string | undefined
  /**
   * The points completed by this chunk, including those before damage in it.
   * @throws {UnreadableError} if an earlier chunk was damaged.
   */
  write(text: string): {
    readonly points: readonly GpxPoint[]
    readonly others: readonly GpxOther[]
  }
  /** The text is complete. @throws {UnreadableError} if it is not, or was damaged. */
  end(): void
} {
  /** The names of the open elements, with prefix. */
  const path: string[] = []
  const reader = xmlReader(path, { open, close })
  /** The number of open elements around the point's children. */
  let depth = Infinity
  let points: GpxPoint[] = []
  let others: GpxOther[] = []
  let creator: string | undefined
  let track: string | undefined
  let point: OpenPoint | undefined
  let type: string | undefined
  let isForeign = false

  function open(name: string, attributes: Readonly<Record<string, string>>, line: number): void {
    const local = localName(name)
    if (path.length === 1) creator = attributes['creator']
    if (local === 'trk') track = undefined
    const other = point === undefined ? OTHERS.get(local) : undefined
    if (other !== undefined) others.push({ line, what: other })
    type = attributes['type']
    isForeign = attributes['xmlns'] !== undefined
    if (local === 'trkpt' && point === undefined) {
      const { lat: latitude, lon: longitude } = attributes
      const texts = { own: new Map(), extensions: new Map(), attributes: new Map() }
      point = { line, latitude, longitude, track, ...texts }
      depth = path.length
    }
  }

  function close(name: string, content: string): void {
    if (point === undefined) nameTrack(name, content)
    else if (path.length < depth) {
      points.push(point)
      point = undefined
      depth = Infinity
    } else keep(name, content, point)
    isForeign = false
  }

  function nameTrack(name: string, content: string): void {
    const parent = localName(path.at(-1) ?? '')
    if (parent === 'trk' && localName(name) === 'name') track ??= content.trim() || undefined
    if (name === 'gps:deviceId' && creator === OUR_CREATOR) {
      const id = parseExportedText(content, type)
      if (typeof id === 'string') track = id
    }
  }

  function keep(name: string, content: string, { own, extensions, attributes }: OpenPoint): void {
    const local = localName(name)
    if (path.at(-1) === 'gps:attributes' && creator === OUR_CREATOR) {
      attributes.set(local, parseExportedText(content, type, local))
      return
    }
    const text = content.trim()
    if (text === '') return
    const isOurs = (one: string) => prefixOf(one) === prefixOf(path[depth - 1] ?? '')
    if (path.length === depth && isOurs(name) && !isForeign) own.set(local, text)
    else {
      const around = path[depth] ?? name
      // The text of a link does not belong to the point.
      if (isOurs(around) && localName(around) !== 'extensions') return
      if (!extensions.has(local)) extensions.set(local, text)
    }
  }

  return {
    creator: () => creator,
    write(text) {
      points = []
      others = []
      reader.write(text)
      return { points, others }
    },
    end: () => reader.end(),
  }
}

type OpenPoint = GpxPoint & {
  readonly own: Map<string, string>
  readonly extensions: Map<string, string>
  readonly attributes: Map<string, unknown>
}

/**
 * A value as written by our export. Earlier exports do not state the type: it is inferred from the
 * text.
 */
function parseExportedText(content: string, type: string | undefined, name = ''): unknown {
  if (type === 'text') return content
  return type === undefined ? typeText(name, content) : parseJsonText(content)
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf(':') + 1)
}
