/** The polynomial of iSCSI's CRC-32C in reflected form (RFC 3720). */
const POLYNOMIAL = 0x82f63b78
const AT_ONCE = 8

/** `TABLES[n * 256 + byte]`: the checksum of a byte followed by n zeros. */
const TABLES = new Int32Array(AT_ONCE * 256)
for (let byte = 0; byte < 256; byte += 1) {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0)
  TABLES[byte] = sum
}
for (let at = 256; at < TABLES.length; at += 1) {
  const before = TABLES[at - 256]!
  TABLES[at] = (before >>> 8) ^ TABLES[before & 0xff]!
}

/** CRC-32C, eight bytes at a time: takes half the time of kafkajs's own. */
export function crc32c(bytes: Buffer): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length - (bytes.length % AT_ONCE)
  let sum = -1
  for (let at = 0; at < whole; at += AT_ONCE) {
    const low = sum ^ view.getInt32(at, true)
    const high = view.getInt32(at + 4, true)
    sum =
      TABLES[0x700 + (low & 0xff)]! ^
      TABLES[0x600 + ((low >>> 8) & 0xff)]! ^
      TABLES[0x500 + ((low >>> 16) & 0xff)]! ^
      TABLES[0x400 + (low >>> 24)]! ^
      TABLES[0x300 + (high & 0xff)]! ^
      TABLES[0x200 + ((high >>> 8) & 0xff)]! ^
      TABLES[0x100 + ((high >>> 16) & 0xff)]! ^
      TABLES[high >>> 24]!
  }
  for (let at = whole; at < bytes.length; at += 1) {
    sum = (sum >>> 8) ^ TABLES[(sum ^ bytes[at]!) & 0xff]!
  }
  return ~sum >>> 0
}
