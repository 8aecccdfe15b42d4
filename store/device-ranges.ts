/** Sorts after any deviceId: longer, and of the highest code point. */
const LAST = '\u{10ffff}'.repeat(64)

/**
 * The ranges of deviceIds, ends included, covered by a list of exact ids and prefixes ending in
 * `*`: in UTF-8 byte order, without overlaps.
 */
export function deviceRanges(list: readonly string[]): (readonly [from: string, to: string])[] {
  const ranges = list
    .map((listed): [string, string] => {
      if (!listed.endsWith('*')) return [listed, listed]
      const beginning = listed.slice(0, -1)
      return [beginning, beginning + LAST]
    })
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const apart: [string, string][] = []
  for (const [from, to] of ranges) {
    const before = apart.at(-1)
    const isWithin = before !== undefined && before[1].endsWith(LAST) && from.startsWith(before[0])
    if (!isWithin && from !== before?.[0]) apart.push([from, to])
    else if (!isWithin && before !== undefined) before[1] = to
  }
  return apart
}
