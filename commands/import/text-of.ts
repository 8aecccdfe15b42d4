import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { UnreadableError, type Text } from './formats/format.ts'

const GZIP = Buffer.from([0x1f, 0x8b])
const ZIP = Buffer.from('PK\x03\x04')
const UTF_16_LE = Buffer.from([0xff, 0xfe])
const LONGEST_MARK = 4

/**
 * The text of a file: UTF-8, or UTF-16 as Windows writes it, also compressed with gzip.
 * @throws {UnreadableError} if it is anything else.
 */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): Text {
  const { begin, whole } = await peek(bytes)
  if (begin.subarray(0, ZIP.length).equals(ZIP)) {
    throw new UnreadableError('it is a ZIP archive: unpack it, and import the files in it')
  }
  if (begin.subarray(0, GZIP.length).equals(GZIP)) {
    yield* textOf(unzipped(whole))
    return
  }
  const isWide = begin.subarray(0, UTF_16_LE.length).equals(UTF_16_LE)
  const decoder = new TextDecoder(isWide ? 'utf-16le' : 'utf-8', { fatal: true })
  try {
    for await (const chunk of whole) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw new UnreadableError('it is not text in UTF-8', { cause: error })
  }
}

async function peek(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ begin: Buffer; whole: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]()
  let begin = Buffer.alloc(0)
  while (begin.length < LONGEST_MARK) {
    const next = await source.next()
    if (next.done === true) break
    begin = Buffer.concat([begin, next.value])
  }
  return { begin, whole: rest() }

  async function* rest() {
    yield begin
    yield* { [Symbol.asyncIterator]: () => source }
  }
}

async function* unzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes)
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error)).pipe(gunzip)
  try {
    for await (const chunk of gunzip) yield chunk as Uint8Array
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error
    throw new UnreadableError('its compression is damaged, or it is not complete', { cause: error })
  } finally {
    source.destroy()
  }
}
