import { ownTurn } from '../../runtime/end-of-turn.ts'

/** A larger body contains photos, or hundreds of points. */
const LARGE_BYTES = 1024 * 1024
/** Twice the number of parts of apps' points in 2 MiB. */
const MOST_PARTS = 200_000
/** Scanned in one turn of the event loop: about a millisecond. */
const SCANNED_AT_ONCE = 1024 * 1024
const [COMMA, BRACE, BRACKET] = [0x2c, 0x7b, 0x5b]

/** Whether parsing a body as JSON would take seconds, in which no other request is answered. */
export async function hasTooManyParts(body: Buffer): Promise<boolean> {
  if (body.length <= LARGE_BYTES) return false
  let parts = 0
  for (let from = 0; from < body.length; from += SCANNED_AT_ONCE) {
    parts += partsIn(body.subarray(from, from + SCANNED_AT_ONCE))
    if (parts > MOST_PARTS) return true
    await ownTurn()
  }
  return false
}

function partsIn(bytes: Buffer): number {
  let parts = 0
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === COMMA || byte === BRACE || byte === BRACKET) parts += 1
  }
  return parts
}
