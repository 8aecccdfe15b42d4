/** The service accepts this many features, and 1 MiB, in one call. */
const MOST_FEATURES = 1_000
const MOST_BYTES = 900_000

/** Splits features into parts that each fit into one call. */
export function featureParts(features: readonly unknown[]): readonly (readonly unknown[])[] {
  const parts: unknown[][] = []
  let bytes = Infinity
  for (const feature of features) {
    const size = new TextEncoder().encode(JSON.stringify(feature)).length
    const part = parts.at(-1)
    if (part === undefined || bytes + size > MOST_BYTES || part.length === MOST_FEATURES) {
      parts.push([feature])
      bytes = size
    } else {
      part.push(feature)
      bytes += size
    }
  }
  return parts
}
