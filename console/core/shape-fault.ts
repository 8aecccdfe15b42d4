import { sentence } from './failure.ts'

/** The location of a shape's position in the API's messages: `shape.coordinates[0][0][3]`. */
const PLACE = String.raw`(?:shape\.)?coordinates((?:\[\d+\])+)`

const CROSSING = new RegExp(
  String.raw`^the edges that start at ${PLACE} and ${PLACE} must not meet`,
)

/**
 * Describes a fault of a shape to the person drawing it: by corner numbers (from 1), not by
 * coordinates.
 */
export function shapeFaultText(message: string): string {
  const [, one, other] = CROSSING.exec(message) ?? []
  if (one !== undefined && other !== undefined) {
    return `The edges after corner ${parseCorner(one)} and after corner ${parseCorner(other)} cross or touch: move a corner.`
  }
  if (/^(shape\.)?radius must be/.test(message)) {
    return 'A point needs a property radius: a number of metres, from 10 to 1,000,000.'
  }
  const words = message
    .replaceAll(new RegExp(PLACE, 'g'), (_, indices: string) => placeText(indices))
    .replaceAll('shape.', 'the ')
  return sentence(words)
}

/** The last index counts the corners. */
function parseCorner(indices: string): number {
  return Number(/(\d+)\]$/.exec(indices)?.[1] ?? 0) + 1
}

/** A single index names a whole ring. */
function placeText(indices: string): string {
  return /^\[\d+\]$/.test(indices) ? 'the outline' : `corner ${parseCorner(indices)}`
}
