import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const compress: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes) => deflateSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, fast),
}

type Packing = {
  readonly damage: readonly [number, 'cut' | 'flip' | 'add'] | null
  /** As the header says. */
  readonly coding: string
  readonly packed: string
  readonly damageAfter: boolean
}

/** How a body is compressed, what its header claims, and how its bytes are damaged in transit. */
export const packing: fc.Arbitrary<Packing> = fc.record({
  damage: fc.option(fc.tuple(fc.nat(), fc.constantFrom('cut', 'flip', 'add')), { freq: 3 }),
  coding: fc.constantFrom('', '', 'identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip, br'),
  packed: fc.constantFrom('as said', 'as said', 'as said', 'not', 'gzip'),
  damageAfter: fc.boolean(),
})

/** The bytes sent. */
export function packedBody(
  written: Buffer,
  { damage, coding, packed, damageAfter }: Packing,
): Buffer {
  let body = written
  if (damage !== null && !damageAfter) body = damaged(body, ...damage)
  const pack = compress[packed === 'as said' ? coding : packed]
  if (pack !== undefined) body = pack(body)
  return damage !== null && damageAfter ? damaged(body, ...damage) : body
}

function damaged(bytes: Buffer, seed: number, how: 'cut' | 'flip' | 'add'): Buffer {
  const at = bytes.length === 0 ? 0 : seed % bytes.length
  const changed = Buffer.from(how === 'cut' ? bytes.subarray(0, at) : bytes)
  if (how === 'flip' && changed.length > 0) changed[at] = (changed[at] ?? 0) ^ (1 << (seed % 8))
  return how === 'add' ? Buffer.concat([changed, Buffer.from([seed % 256])]) : changed
}
