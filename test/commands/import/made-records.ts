const START = Date.UTC(2014, 0, 1)
const AT_ONCE = 500

/** A `Records.json` of Google Takeout with this many locations, one a minute, in pieces of text. */
export function* madeRecords(locations: number): Generator<string> {
  yield '{\n  "locations": ['
  for (let from = 0; from < locations; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, locations - from) }, (_, n) => from + n)
    yield (from === 0 ? '' : ', ') + some.map(location).join(', ')
  }
  yield ']\n}\n'
}

/** Indented as in real files, about 450 bytes. */
function location(n: number): string {
  const timestamp = new Date(START + n * 60_000).toISOString()
  const fields = {
    latitudeE7: 525_000_000 + Math.round(Math.sin(n / 1_000) * 1e6) + (n % 97),
    longitudeE7: 134_000_000 + Math.round(Math.cos(n / 1_000) * 1e6),
    accuracy: 5 + (n % 40),
    altitude: 30 + (n % 20),
    verticalAccuracy: 3,
    activity: [{ activity: [{ type: 'STILL', confidence: 62 }], timestamp }],
    source: 'WIFI',
    deviceTag: 1_184_882_232,
    timestamp,
  }
  return JSON.stringify(fields, undefined, 2).replaceAll('\n', '\n    ')
}
