import type { Text } from '../../schemas/formats/histories/format.ts'
import {
  ENCODING_BYTES,
  encodingOf,
  textDecoder,
} from '../../schemas/formats/histories/text-encoding.ts'

/** The text of a file, in the encoding that it names; also compressed with gzip. */
export async function* textOfFile(file: File, onBytes: (bytes: number) => void): Text {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = first === 0x1f && second === 0x8b
  const bytes = counted(file.stream() as ReadableStream<Uint8Array>, onBytes)
  const plain = isGzip ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes
  const reader = (plain as ReadableStream<Uint8Array>).getReader()
  let begin = new Uint8Array()
  let isEnd = false
  while (begin.length < ENCODING_BYTES && !isEnd) {
    const { value = new Uint8Array(), done } = await reader.read()
    begin = joined(begin, value)
    isEnd = done
  }
  const decoder = textDecoder(encodingOf(begin))
  for (let chunk: Uint8Array | undefined = begin; chunk !== undefined;) {
    const { text, fault } = decoder.decode(chunk)
    yield chunk === begin ? text.replace(/^\ufeff+/, '') : text
    if (fault !== undefined) throw fault
    chunk = isEnd ? undefined : (await reader.read()).value
  }
  const { fault } = decoder.end()
  if (fault !== undefined) throw fault
}

function counted(
  stream: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.length)
      controller.enqueue(chunk)
    },
  })
  return stream.pipeThrough(counter)
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}
