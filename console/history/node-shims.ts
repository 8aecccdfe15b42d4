/** The few parts of Node that the readers of histories use, for the browser. */

export function hash(): never {
  throw new Error('not in a browser')
}

export const randomInt = hash

const TABLE = Array.from({ length: 256 }, (_, n) => {
  let rest = n
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest >>> 0
})

/** CRC-32 of an ASCII text. */
export function crc32(text: string): number {
  let rest = 0xffffffff
  for (let at = 0; at < text.length; at += 1) {
    rest = (rest >>> 8) ^ (TABLE[(rest ^ text.charCodeAt(at)) & 0xff] as number)
  }
  return (rest ^ 0xffffffff) >>> 0
}
