/** The number of bytes of an integer from -1 on in zigzag form. */
export function varintBytes(value: number): number {
  let rest = zigzag(value)
  let bytes = 1
  while (rest >= 128) {
    rest = Math.floor(rest / 128)
    bytes += 1
  }
  return bytes
}

/** Returns the position after the number. */
export function writeVarint(value: number, into: Uint8Array, start: number): number {
  let rest = zigzag(value)
  let at = start
  while (rest >= 128) {
    into[at] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
    at += 1
  }
  into[at] = rest
  return at + 1
}

/** Without shifts, because numbers exceed 32 bits: a batch may span any time. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value
}
