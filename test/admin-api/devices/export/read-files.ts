import { expect } from '@jest/globals'
import { parseGPXWithCustomParser } from '@we-gold/gpxjs'
import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom'

/** The values of all lines. */
export function ofLines(text: string): unknown[] {
  expect(text === '' || text.endsWith('\n')).toBe(true)
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as unknown)
}

/** Rows of cells in the format of RFC 4180. */
export function ofCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex
    const found = cell.exec(text)
    if (found === null) throw new Error(`no CSV at ${at}: ${text.slice(at, at + 40)}`)
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    if (found[3] === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

/** @throws {Error} if the text is not well-formed. */
export function ofXml(text: string) {
  return new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, 'text/xml')
}

type Gpx = {
  readonly tracks: readonly {
    readonly name: string
    readonly points: readonly {
      readonly latitude: number
      readonly longitude: number
      readonly elevation?: number
      readonly time: Date
    }[]
  }[]
}

export function ofGpx(text: string): Gpx {
  const parse = parseGPXWithCustomParser as unknown as (
    text: string,
    parseXml: typeof ofXml,
  ) => readonly [Gpx | null]
  const [gpx] = parse(text, ofXml)
  if (gpx === null) throw new Error('no GPX')
  return gpx
}
