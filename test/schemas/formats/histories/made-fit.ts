/** The base types of fields. */
export const FIT_TYPES = {
  enum: 0x00,
  sint8: 0x01,
  uint8: 0x02,
  uint16: 0x84,
  sint32: 0x85,
  uint32: 0x86,
} as const
const SIZES = { enum: 1, sint8: 1, uint8: 1, uint16: 2, sint32: 4, uint32: 4 } as const

/** The number of a field, its type, and its value. */
export type MadeField = readonly [number: number, type: keyof typeof SIZES, value: number]

type Making = { readonly isBig?: boolean }

/** The definition of a message and its data. */
export function fitMessage(
  kind: number,
  fields: readonly MadeField[],
  { isBig = false }: Making = {},
): Buffer {
  const kindBytes = isBig ? [kind >> 8, kind & 0xff] : [kind & 0xff, kind >> 8]
  const definition = fields.flatMap(([number, type]) => [number, SIZES[type], FIT_TYPES[type]])
  return Buffer.concat([
    Buffer.from([0x40, 0, isBig ? 1 : 0, ...kindBytes, fields.length, ...definition]),
    fitData(fields, { isBig }),
  ])
}

/** Data of the most recently defined message; its header is 0, or that of a compressed time. */
export function fitData(
  fields: readonly MadeField[],
  { isBig = false, header = 0 }: Making & { header?: number } = {},
): Buffer {
  const values = fields.map(([, type, value]) => {
    const bytes = Buffer.alloc(SIZES[type])
    const unsigned = value < 0 ? value + 2 ** (8 * bytes.length) : value
    if (isBig) bytes.writeUIntBE(unsigned, 0, bytes.length)
    else bytes.writeUIntLE(unsigned, 0, bytes.length)
    return bytes
  })
  return Buffer.concat([Buffer.from([header]), ...values])
}

/** A file of messages. */
export function fitFile(messages: readonly Buffer[], { length }: { length?: number } = {}): Buffer {
  const data = Buffer.concat(messages)
  const header = Buffer.alloc(14)
  header.writeUInt8(14, 0)
  header.writeUInt8(0x20, 1)
  header.writeUInt16LE(2134, 2)
  header.writeUInt32LE(length ?? data.length, 4)
  header.write('.FIT', 8)
  const whole = Buffer.concat([header, data])
  const checksum = Buffer.alloc(2)
  checksum.writeUInt16LE(checksumOf(whole))
  return Buffer.concat([whole, checksum])
}

function checksumOf(bytes: Buffer): number {
  let checksum = 0
  for (const byte of bytes) {
    checksum ^= byte
    for (let bit = 0; bit < 8; bit += 1)
      checksum = checksum & 1 ? (checksum >> 1) ^ 0xa001 : checksum >> 1
  }
  return checksum
}

const EPOCH = Date.UTC(1989, 11, 31)

/** Seconds as FIT counts them. */
export function fitTime(iso: string): number {
  return (Date.parse(iso) - EPOCH) / 1000
}

/** Coordinates in FIT's units. */
export function semicircles(degrees: number): number {
  return Math.round((degrees * 2 ** 31) / 180)
}
