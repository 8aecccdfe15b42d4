import { SaxesParser } from 'saxes'
import { UnreadableError } from './format.ts'

/** A track point as the file has it. */
export type GpxPoint = {
  readonly line: number
  readonly latitude: string | undefined
  readonly longitude: string | undefined
  /** The name of its track. */
  readonly track: string | undefined
  /** The texts of its elements, extensions included, by name without prefix. */
  readonly texts: ReadonlyMap<string, string>
}

/**
 * Reads the track points of GPX 1.0 and 1.1 from pieces of text. Way points and routes are left out: they
 * are not recorded positions.
 */
export function gpxPoints(): {
  /** The program that has written the file, once the root element is read. */
  readonly creator: () => string | undefined
  /** @throws {UnreadableError} if it is not well-formed XML. */
  write(text: string): GpxPoint[]
  /** The text is complete. @throws {UnreadableError} if it is not. */
  end(): void
} {
  const parser = new SaxesParser()
  const open: string[] = []
  let points: GpxPoint[] = []
  let creator: string | undefined
  let track: string | undefined
  let texts: Map<string, string> | undefined
  let point: GpxPoint | undefined
  let content = ''

  parser.on('error', ({ message }) => {
    throw new UnreadableError(`it is not well-formed XML: ${message}`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    const local = withoutPrefix(name)
    if (open.length === 0) creator = attributes['creator']
    if (local === 'trk') track = undefined
    if (local === 'trkpt') {
      texts = new Map()
      const { lat: latitude, lon: longitude } = attributes
      point = { line: parser.line, latitude, longitude, track, texts }
    }
    open.push(local)
    content = ''
  })
  parser.on('text', (text) => {
    content += text
  })
  parser.on('cdata', (text) => {
    content += text
  })
  parser.on('closetag', () => {
    const local = open.pop() ?? ''
    if (local === 'trkpt' && point !== undefined) {
      points.push(point)
      point = texts = undefined
    } else if (content.trim() !== '') {
      texts?.set(local, content.trim())
      if (local === 'name' && open.at(-1) === 'trk') track = content.trim()
    }
    content = ''
  })

  return {
    creator: () => creator,
    write(text) {
      parser.write(text)
      const read = points
      points = []
      return read
    },
    end: () => void parser.close(),
  }
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
