import type { FileItem, Format } from './format.ts'
import { namedPoint } from './named-fields.ts'
import { localName, xmlReader } from './xml-reader.ts'

/**
 * Tracks of Google Earth and of apps, `gx:Track`, or `Track` of KML 2.3; and points with a time.
 */
export const kmlFormat: Format = {
  name: 'kml',
  title: 'KML with tracks (gx:Track)',
  places: 'element',
  each: { text: '<when>', what: 'points' },
  recognises: (head) => head.startsWith('<') && /<(?:\w+:)?kml[\s>]/.test(head),

  async *read(text) {
    const path: string[] = []
    const reader = featureReader(path)
    let place = 0
    const numbered = (features: readonly Feature[]) =>
      features.flatMap((feature) => {
        const items = itemsOf(feature, place)
        place += items.length
        return items
      })
    try {
      for await (const chunk of text) {
        reader.write(chunk)
        yield numbered(reader.take())
      }
      reader.end()
    } catch (error) {
      yield numbered(reader.cut())
      throw error
    }
  },
}

/** A track or a placemark. */
type Feature = {
  readonly kind: 'Track' | 'Placemark'
  readonly times: string[]
  /** Longitude, latitude and perhaps altitude. */
  readonly places: string[]
  readonly headings: string[]
  /** A placemark's data, or lists with the data of a track's points. */
  readonly data: Map<string, string[]>
  /** Whether altitudes are above sea level; otherwise a 0 says nothing. */
  isAbsolute: boolean
  lines: number
}

function featureReader(path: string[]) {
  /** The open elements: a placemark may contain a track. */
  const open: Feature[] = []
  let complete: Feature[] = []
  let data: string | undefined
  const reader = xmlReader(path, {
    open(name, attributes) {
      const kind = localName(name)
      if (kind === 'Track' || kind === 'Placemark') {
        const lists = { times: [], places: [], headings: [], data: new Map() }
        open.push({ kind, ...lists, isAbsolute: false, lines: 0 })
      }
      if (DATA.has(kind)) data = attributes['name']
    },
    close(name, content) {
      const [feature, local] = [open.at(-1), localName(name)]
      if (feature === undefined) return
      if (local === feature.kind) complete.push(...open.splice(-1))
      else keep(feature, local, content.trim())
    },
  })

  function keep(feature: Feature, name: string, text: string): void {
    const around = localName(path.at(-1) ?? '')
    if (name === 'when' && (around === 'Track' || isOfPlacemark())) feature.times.push(text)
    else if (name === 'coord' || (name === 'coordinates' && around === 'Point')) {
      feature.places.push(text)
    } else if (name === 'coordinates') feature.lines += 1
    else if (name === 'angles') feature.headings.push(text.split(/\s+/, 1)[0] ?? '')
    else if (name === 'altitudeMode') feature.isAbsolute = text === 'absolute'
    else if ((name === 'value' && DATA.has(around)) || name === 'SimpleData') {
      const values = feature.data.get(data ?? '') ?? []
      feature.data.set(data ?? '', values)
      values.push(text)
    }
  }

  /** Not the camera's point of view. */
  function isOfPlacemark(): boolean {
    const [mark, stamp] = path.slice(-2).map(localName)
    return mark === 'Placemark' && stamp === 'TimeStamp'
  }

  return {
    ...reader,
    /** The completed features. */
    take(): readonly Feature[] {
      const taken = complete
      complete = []
      return taken
    },
    /**
     * Returns the complete features of a damaged text; for an unfinished track, the positions with
     * a known time.
     */
    cut(): readonly Feature[] {
      const tracks = open.filter(({ kind }) => kind === 'Track')
      return [
        ...complete,
        ...tracks.map((one) => ({ ...one, times: one.times.slice(0, one.places.length) })),
      ]
    },
  }
}

const DATA = new Set(['Data', 'SimpleData', 'SimpleArrayData'])

/** @param before the number of items before them. */
function itemsOf(
  { kind, times, places, headings, data, isAbsolute, lines }: Feature,
  before: number,
): FileItem[] {
  const items = Array.from({ length: Math.max(times.length, places.length) }, (_, at): FileItem => {
    const place = before + at + 1
    const [longitude, latitude, sent] = (places[at] ?? '').split(/[\s,]+/).filter(Boolean)
    if (longitude === undefined) return { kind: 'other', place, what: 'times without a position' }
    const fields = Object.fromEntries([...data].map(([name, values]) => [name, values[at]]))
    const altitude = !isAbsolute && Number(sent) === 0 ? undefined : sent
    const timed = times[at] !== undefined && { timestamp: times[at] }
    const point = namedPoint(
      { heading: headings[at], ...fields, ...timed, latitude, longitude, altitude },
      { areTexts: true },
    )
    return kind === 'Placemark' && point.sentTime === undefined
      ? { kind: 'other', place, what: 'points without a time' }
      : { kind: 'point', place, point }
  })
  for (let line = 0; line < lines; line += 1) {
    const place = before + items.length + 1
    items.push({ kind: 'other', place, what: 'lines and areas without times' })
  }
  return items
}
