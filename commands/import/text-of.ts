import { createGunzip } from 'node:zlib'
import { UnreadableError, type Text } from '../../schemas/formats/histories/format.ts'
import {
  ENCODING_BYTES,
  encodingOf,
  textDecoder,
} from '../../schemas/formats/histories/text-encoding.ts'

const GZIP = Buffer.from([0x1f, 0x8b])
const ZIP = Buffer.from('PK\x03\x04')
const UNZIPPED_AT_ONCE = 16 * 1024
const BYTE_ORDER_MARKS = /^\ufeff+/

/**
 * The text of a file in the encoding that it names, else UTF-8; also compressed with gzip.
 * @throws {UnreadableError} if it is anything else, or damaged; the text before the damage comes first.
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
  const decoder = textDecoder(encodingOf(begin))
  let isFirst = true
  for await (const chunk of whole) {
    const { text, fault } = decoder.decode(chunk)
    yield isFirst ? text.replace(BYTE_ORDER_MARKS, '') : text
    if (fault !== undefined) throw fault
    isFirst = false
  }
  const { fault } = decoder.end()
  if (fault !== undefined) throw fault
}

async function peek(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ begin: Buffer; whole: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]()
  let begin = Buffer.alloc(0)
  let fault: Error | undefined
  while (begin.length < ENCODING_BYTES) {
    try {
      const next = await source.next()
      if (next.done === true) break
      begin = Buffer.concat([begin, next.value])
    } catch (error) {
      // After what could be read.
      fault = error as Error
      break
    }
  }
  return { begin, whole: rest() }

  async function* rest() {
    yield begin
    if (fault !== undefined) throw fault
    yield* { [Symbol.asyncIterator]: () => source }
  }
}

/** All that can be read of compressed bytes. As a pipe, the stream would drop what comes just before a damage. */
async function* unzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  let read: Uint8Array[] = []
  let fault: UnreadableError | undefined
  gunzip.on('data', (piece: Uint8Array) => read.push(piece))
  let release = (): void => undefined
  gunzip.on('error', (error) => {
    // Otherwise the piece that it cannot read is never written.
    release()
    fault = new UnreadableError('its compression is damaged, or it is not complete', {
      cause: error,
    })
  })
  const ended = new Promise<void>((resolve) => gunzip.once('close', resolve))

  async function* write(piece: Uint8Array) {
    await new Promise<void>((resolve) => {
      release = resolve
      gunzip.write(piece, () => resolve())
    })
    yield* read
    read = []
    if (fault !== undefined) throw fault
  }

  try {
    for await (const chunk of bytes) {
      for (let from = 0; from < chunk.length; from += UNZIPPED_AT_ONCE) {
        yield* write(chunk.subarray(from, from + UNZIPPED_AT_ONCE))
      }
    }
    gunzip.end()
    await ended
    yield* read
    if (fault !== undefined) throw fault
  } finally {
    gunzip.destroy()
  }
}
