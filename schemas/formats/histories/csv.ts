import { unguardFormulas } from '../../text/csv-formulas.ts'
import { csvRows, type CsvRow } from './csv-rows.ts'
import type { FileItem, Format, Text } from './format.ts'
import { jsonIn } from '../values.ts'
import { LINES } from './lines.ts'
import { areOwnNames, namedPoint, namePosition, ownPoint, usualName } from './named-fields.ts'

const SEPARATORS = [',', ';', '\t'] as const

/** Our own export, GPSLogger's files, and files with columns of such names. */
export const csvFormat: Format = {
  name: 'csv',
  title: 'CSV of this service, GPSLogger and others',
  places: 'line',
  each: LINES,
  recognises: (head) => separatorOf(head) !== undefined,

  async *read(text) {
    const { head, whole } = await upToHeader(text)
    const separator = separatorOf(head) ?? ','
    for await (const { header, rows } of csvRows(whole, { separator })) {
      const names = header.map(usualName)
      const isOwn = areOwnNames(names)
      // Programs that write decimal commas separate cells otherwise.
      const hasCommas = separator !== ','
      yield rows.map((row) => itemOf(names, row, { isOwn, hasCommas }))
    }
  },
}

function itemOf(
  names: readonly string[],
  { line: place, cells }: CsvRow,
  { isOwn, hasCommas }: { isOwn: boolean; hasCommas: boolean },
): FileItem {
  const { attributes = '', ...fields } = Object.fromEntries(
    names.map((name, column) => {
      const cell = unguardFormulas(cells[column] ?? '')
      return [name, hasCommas ? cell.replace(DECIMAL_COMMA, '$1.$2') : cell]
    }),
  )
  const all = { ...fields, attributes: jsonIn(attributes) }
  return {
    kind: 'point',
    place,
    point: isOwn ? ownPoint(all) : namedPoint(all, { areTexts: true }),
  }
}

const DECIMAL_COMMA = /^([+-]?\d+),(\d+)$/

/** The separator that makes a header of the first line; undefined if it is none. */
function separatorOf(head: string): string | undefined {
  const line = head.trimStart().split(/\r?\n/, 1)[0]?.replaceAll('"', '') ?? ''
  return SEPARATORS.find((one) => namePosition(line.split(one).map(usualName)))
}

async function upToHeader(text: Text): Promise<{ head: string; whole: Text }> {
  const source = text[Symbol.asyncIterator]()
  let head = ''
  while (!head.trimStart().includes('\n')) {
    const next = await source.next()
    if (next.done === true) break
    head += next.value
  }
  return { head, whole: whole() }

  async function* whole(): Text {
    yield head
    yield* { [Symbol.asyncIterator]: () => source }
  }
}
