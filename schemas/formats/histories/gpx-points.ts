import { SaxesParser } from 'saxes'
import { UnreadableError } from './format.ts'
import { typedText } from '../typed-attributes.ts'
import { jsonIn } from '../values.ts'

/** The creator of our own GPX export, which has attributes in `gps:attributes`. */
export const OUR_CREATOR = 'gps-position-ingestion'

/** A track point as the file has it. */
export type GpxPoint = {
  readonly line: number
  readonly latitude: string | undefined
  readonly longitude: string | undefined
  /** The name of its track. */
  readonly track: string | undefined
  /** The texts of its own elements, by name. */
  readonly own: ReadonlyMap<string, string>
  /** The texts of elements of other namespaces, by name without prefix; the first of a name counts. */
  readonly extensions: ReadonlyMap<string, string>
  /** The attributes of our own export, which may have any name. */
  readonly attributes: ReadonlyMap<string, unknown>
}

/** A position that was never recorded: a planned or marked one. */
export type GpxOther = { readonly line: number; readonly what: 'way points' | 'points of routes' }

const OTHERS = new Map<string, GpxOther['what']>([
  ['wpt', 'way points'],
  ['rtept', 'points of routes'],
])

/** Reads the track points of GPX 1.0 and 1.1 from pieces of text. */
export function gpxPoints(): {
  /** The program that has written the file, once the root element is read. */
  readonly creator: () => string | undefined
  /**
   * The points that this piece completes, also those before damage in it.
   * @throws {UnreadableError} if an earlier piece was damaged.
   */
  write(text: string): {
    readonly points: readonly GpxPoint[]
    readonly others: readonly GpxOther[]
  }
  /** The text is complete. @throws {UnreadableError} if it is not, or was damaged. */
  end(): void
} {
  const parser = new SaxesParser()
  /** The names of the elements that are open, with prefix. */
  const open: string[] = []
  /** How many of them are around the children of the point. */
  let depth = Infinity
  let points: GpxPoint[] = []
  let others: GpxOther[] = []
  let creator: string | undefined
  let track: string | undefined
  let point: OpenPoint | undefined
  let content = ''
  let type: string | undefined
  let isForeign = false
  let linesBefore = 0
  let hasBegun = false
  let fault: UnreadableError | undefined

  parser.on('error', ({ message }) => {
    const place = `line ${parser.line + linesBefore}, column ${parser.column}`
    const reason = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
    throw new UnreadableError(`it is not well-formed XML at ${place}: ${reason}`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    const local = withoutPrefix(name)
    if (open.length === 0) creator = attributes['creator']
    if (local === 'trk') track = undefined
    const line = parser.line + linesBefore
    const other = point === undefined ? OTHERS.get(local) : undefined
    if (other !== undefined) others.push({ line, what: other })
    open.push(name)
    content = ''
    type = attributes['type']
    isForeign = attributes['xmlns'] !== undefined
    if (local === 'trkpt' && point === undefined) {
      const { lat: latitude, lon: longitude } = attributes
      const texts = { own: new Map(), extensions: new Map(), attributes: new Map() }
      point = { line, latitude, longitude, track, ...texts }
      depth = open.length
    }
  })
  parser.on('text', (text) => {
    content += text
  })
  parser.on('cdata', (text) => {
    content += text
  })
  parser.on('closetag', () => {
    const name = open.pop() ?? ''
    if (point === undefined) nameTrack(name)
    else if (open.length < depth) {
      points.push(point)
      point = undefined
      depth = Infinity
    } else keep(name, point)
    content = ''
    isForeign = false
  })

  function nameTrack(name: string): void {
    const parent = withoutPrefix(open.at(-1) ?? '')
    if (parent === 'trk' && withoutPrefix(name) === 'name') track ??= content.trim() || undefined
    if (name === 'gps:deviceId' && creator === OUR_CREATOR) {
      const id = exportedText(content, type)
      if (typeof id === 'string') track = id
    }
  }

  function keep(name: string, { own, extensions, attributes }: OpenPoint): void {
    const local = withoutPrefix(name)
    if (open.at(-1) === 'gps:attributes' && creator === OUR_CREATOR) {
      attributes.set(local, exportedText(content, type, local))
      return
    }
    const text = content.trim()
    if (text === '') return
    const isOurs = (one: string) => prefixOf(one) === prefixOf(open[depth - 1] ?? '')
    if (open.length === depth && isOurs(name) && !isForeign) own.set(local, text)
    else {
      const around = open[depth] ?? name
      // The text of a link is none of the point's.
      if (isOurs(around) && withoutPrefix(around) !== 'extensions') return
      if (!extensions.has(local)) extensions.set(local, text)
    }
  }

  return {
    creator: () => creator,
    write(text) {
      if (fault !== undefined) throw fault
      points = []
      others = []
      try {
        parser.write(hasBegun ? text : fromFirstTag(text))
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error
        fault = error
      }
      return { points, others }
    },
    end() {
      if (fault !== undefined) throw fault
      parser.close()
    },
  }

  /** Some programs write white space before the XML declaration. */
  function fromFirstTag(text: string): string {
    const trimmed = text.trimStart()
    linesBefore += text.slice(0, text.length - trimmed.length).split('\n').length - 1
    hasBegun = trimmed !== ''
    return trimmed
  }
}

type OpenPoint = GpxPoint & {
  readonly own: Map<string, string>
  readonly extensions: Map<string, string>
  readonly attributes: Map<string, unknown>
}

/** A value as our export wrote it. Earlier exports say no type: it is that of the text. */
function exportedText(content: string, type: string | undefined, name = ''): unknown {
  if (type === 'text') return content
  return type === undefined ? typedText(name, content) : jsonIn(content)
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf(':') + 1)
}
