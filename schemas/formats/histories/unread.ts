const UNPACK = 'unpack it, and import the files in it'
const convert = (name: string, type: string) =>
  `it is ${name}: convert it to GPX, for example with gpsbabel -i ${type} -f FILE -o gpx -F track.gpx`
const NOT_GZIP = `it is an archive, compressed with something other than gzip: ${UNPACK}`
const NO_DATA = 'it is a document or an image, not data: export GPX or CSV instead'
const SAVE_AS_CSV = 'save it as CSV, and import that; Traccar exports CSV and JSON too'

/** Other kinds of files, by their first bytes as Latin-1 and what they contain, with the remedy. */
const BYTES: readonly (readonly [begin: string, among: RegExp, advice: string])[] = [
  [
    'PK\x03\x04',
    /xl\/|opendocument\.spreadsheet|\[Content_Types\]|_rels\/\.rels|docProps\/|\.iwa/,
    `it is a workbook: ${SAVE_AS_CSV}`,
  ],
  [
    'PK\x03\x04',
    /\.kml/,
    'it is a KMZ archive: unpack it (unzip FILE), and import the doc.kml in it',
  ],
  ['PK\x03\x04', /^/, `it is a ZIP archive: ${UNPACK}`],
  ['\xd0\xcf\x11\xe0', /^/, `it is a workbook or document of an old Office: ${SAVE_AS_CSV}`],
  ['7z\xbc\xaf', /^/, NOT_GZIP],
  ['Rar!', /^/, NOT_GZIP],
  ['BZh', /^...\d1AY/, NOT_GZIP],
  ['\xfd7zXZ', /^/, NOT_GZIP],
  ['(\xb5/\xfd', /^/, NOT_GZIP],
  [
    'SQLite format 3',
    /^/,
    'it is a SQLite database: export GPX or CSV with the program that made it',
  ],
  ['%PDF', /^/, NO_DATA],
  ['\x89PNG', /^/, NO_DATA],
  ['\xff\xd8\xff', /^/, NO_DATA],
]

/** Text formats, recognised by their first characters. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^[$!](?:G[ABILNPQ]|BD|QZ|PG)[A-Z]{2,4},/m, convert('NMEA 0183', 'nmea')],
  [/^A[A-Z]{3}[^\n]*\n(?:.*\n)*?H[FOP]DTE/, convert('the IGC log of a flight', 'igc')],
  [
    /^\{\s*"timelineObjects"/,
    'it is a month of semantic history, which has guesses instead of positions: import Records.json',
  ],
  [
    /^\{\s*"timelineEdits"/,
    'it is Timeline Edits.json, which has corrections and signals for Google, not a history: import Records.json, or the Timeline that the phone exports',
  ],
  [
    /^<(?:!doctype )?html\b/i,
    'it is a web page, perhaps the one to sign in: download the file again',
  ],
]

/** The kind of an unsupported file, by its first bytes, and the remedy. */
export function describeUnreadBytes(begin: string): string | undefined {
  return BYTES.find(([sign, among]) => begin.startsWith(sign) && among.test(begin))?.[2]
}

/** The kind of an unsupported file, by the start of its text, and the remedy. */
export function describeUnreadText(begin: string): string | undefined {
  return TEXTS.find(([kind]) => kind.test(begin))?.[1]
}
