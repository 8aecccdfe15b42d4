/** A message of a FIT file: its kind, and the numbers of its fields, unscaled. */
export type FitMessage = { readonly kind: number; readonly fields: ReadonlyMap<number, number> }

type Field = { readonly number: number; readonly size: number; readonly type: number }
type Definition = {
  readonly kind: number
  readonly isLittle: boolean
  readonly fields: readonly Field[]
  readonly size: number
}

/** Base types by number: how to read them, their size, and their invalid value. */
const TYPES = [
  ['Uint8', 1, 0xff],
  ['Int8', 1, 0x7f],
  ['Uint8', 1, 0xff],
  ['Int16', 2, 0x7fff],
  ['Uint16', 2, 0xffff],
  ['Int32', 4, 0x7fffffff],
  ['Uint32', 4, 0xffffffff],
  undefined, // Text.
  ['Float32', 4, NaN],
  ['Float64', 8, NaN],
  ['Uint8', 1, 0],
  ['Uint16', 2, 0],
  ['Uint32', 4, 0],
] as const

/** The field number of the time, in every message. */
export const FIT_TIME = 253
const SIGN = [...'.FIT'].map((one) => one.charCodeAt(0))

/**
 * Reads FIT messages from chunks of bytes (https://developer.garmin.com/fit/protocol/), also of
 * several concatenated files.
 * @param kinds the kinds of messages to return; all others are skipped.
 */
export function fitReader(kinds: ReadonlySet<number>) {
  let bytes = new Uint8Array()
  let view = new DataView(bytes.buffer)
  let at = 0
  /** Bytes before the checksum; undefined before a header, infinite if the header does not say. */
  let left: number | undefined
  let checksum = 0
  let lastTime = 0
  let damage: string | undefined
  let doubt: string | undefined
  const definitions = new Map<number, Definition>()
  const messages: FitMessage[] = []

  const has = (count: number) => at + count <= bytes.length

  function take(count: number): number {
    const from = at
    at += count
    for (let byte = from; byte < at; byte += 1) checksum = updateChecksum(checksum, bytes[byte]!)
    return from
  }

  /** Reads the next part. False if more bytes are needed, or nothing more can be read. */
  function readPart(): boolean {
    if (damage !== undefined || !has(1)) return false
    if (left === undefined) return readHeader()
    if (left === 0) return readChecksum()
    const header = view.getUint8(at)
    const isDefinition = (header & 0xc0) === 0x40
    const size = isDefinition ? definitionSize(header) : dataSize(header)
    if (size === undefined || !has(size)) return false
    if (size > left) return fail('a message is longer than the file')
    left -= size
    if (isDefinition) define(header, take(size))
    else readData(header, take(size))
    return true
  }

  function fail(reason: string): false {
    damage = reason
    return false
  }

  function readHeader(): boolean {
    const size = view.getUint8(at)
    if (!has(12)) return false
    if (size < 12 || SIGN.some((byte, n) => bytes[at + 8 + n] !== byte)) {
      return fail('bytes that are not FIT follow')
    }
    if (!has(size)) return false
    const length = view.getUint32(at + 4, true)
    // Belongs to a recording that has not ended.
    left = length === 0 || length === 0xffffffff ? Infinity : length
    checksum = 0
    definitions.clear()
    take(size)
    return true
  }

  function readChecksum(): boolean {
    if (!has(2)) return false
    if (view.getUint16(at, true) !== checksum) {
      doubt = 'its checksum does not fit: some values may be wrong, or points be missing'
    }
    at += 2
    left = undefined
    return true
  }

  function definitionSize(header: number): number | undefined {
    if (!has(6)) return undefined
    const size = 6 + 3 * view.getUint8(at + 5)
    if ((header & 0x20) === 0) return size
    return has(size + 1) ? size + 1 + 3 * view.getUint8(at + size) : undefined
  }

  function define(header: number, from: number): void {
    const isLittle = bytes[from + 2] === 0
    const count = bytes[from + 5]!
    const fields = Array.from({ length: count }, (_, n) => {
      const [number, size, type] = bytes.subarray(from + 6 + 3 * n)
      return { number: number!, size: size!, type: type! & 0x1f }
    })
    let size = fields.reduce((sum, one) => sum + one.size, 0)
    // Developer fields come last.
    const own = from + 6 + 3 * count
    if ((header & 0x20) !== 0) {
      for (let n = 0; n < bytes[own]!; n += 1) size += bytes[own + 2 + 3 * n]!
    }
    definitions.set(header & 0x0f, {
      kind: view.getUint16(from + 3, isLittle),
      isLittle,
      fields,
      size,
    })
  }

  const localType = (header: number) => (header & 0x80 ? (header >> 5) & 3 : header & 0x0f)

  function dataSize(header: number): number | undefined {
    const definition = definitions.get(localType(header))
    if (definition !== undefined) return 1 + definition.size
    fail('a message has an unknown type')
    return undefined
  }

  function readData(header: number, from: number): void {
    const { kind, isLittle, fields } = definitions.get(localType(header))!
    const isGiven = kinds.has(kind)
    const values = new Map<number, number>()
    if (header & 0x80) {
      lastTime += ((header & 0x1f) - (lastTime % 32) + 32) % 32
      values.set(FIT_TIME, lastTime)
    }
    let place = from + 1
    for (const { number, size, type } of fields) {
      const [name, length, none] = TYPES[type] ?? []
      if ((isGiven || number === FIT_TIME) && name !== undefined && length === size) {
        const value = view[`get${name}`](place, isLittle)
        if (value !== none && !Number.isNaN(value)) values.set(number, value)
      }
      place += size
    }
    lastTime = values.get(FIT_TIME) ?? lastTime
    if (isGiven) messages.push({ kind, fields: values })
  }

  return {
    /** The messages completed by this chunk. */
    write(piece: Uint8Array): FitMessage[] {
      const rest = bytes.subarray(at)
      bytes = new Uint8Array(rest.length + piece.length)
      bytes.set(rest)
      bytes.set(piece, rest.length)
      view = new DataView(bytes.buffer)
      at = 0
      while (readPart());
      return messages.splice(0)
    },
    /** The fault of the file, known at its end. */
    faultAtEnd(): string | undefined {
      if (left === Infinity) return 'its recording is incomplete'
      if (damage !== undefined) return damage
      return left === undefined && !has(1) ? doubt : 'the rest is missing'
    },
  }
}

const CHECKSUMS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xa001 : rest >>> 1
  return rest
})

/** CRC-16. */
function updateChecksum(checksum: number, byte: number): number {
  return (checksum >>> 8) ^ CHECKSUMS[(checksum ^ byte) & 0xff]!
}
