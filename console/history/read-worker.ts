import './buffer.ts'
import type { FileItem, Format, Text } from '../../schemas/formats/histories/format.ts'
import { readPoints } from '../../schemas/formats/histories/read-points.ts'
import { reportOf, type UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'
import {
  ENCODING_BYTES,
  encodingOf,
  textDecoder,
} from '../../schemas/formats/histories/text-encoding.ts'
import type { HistoryAnswer, HistoryOrder, FoundHistory } from '../core/history.ts'

/** The limits of one call, with room for characters of several bytes. */
const MOST_REPORTS = 1_000
const MOST_CHARACTERS = 400_000
const SHOWN_EVERY_MS = 200

const page = globalThis as unknown as {
  postMessage(answer: HistoryAnswer): void
  onmessage: (event: { data: HistoryOrder }) => void
}
let go = (): void => undefined

page.onmessage = ({ data }) => {
  if (data.kind === 'more') go()
  else
    read(data).catch((error: unknown) =>
      setTimeout(() => {
        throw error
      }),
    )
}

/**
 * Reads files one after the other with the readers of `npm run import`; a damaged file up to its
 * damage.
 */
async function read({ files, deviceId, isSent }: Extract<HistoryOrder, { kind: 'read' }>) {
  const found = new Found()
  let [bytes, shownAt] = [0, 0]
  let batch: object[] = []
  let characters = 0

  for (const file of files) {
    try {
      const text = textOfFile(file, (read) => (bytes += read))
      const { format, items } = await readPoints(text)
      const before = found.points
      for await (const some of items) {
        for (const item of some)
          await take(item, format, `${file.name}, ${format.places} ${item.place}`)
        show()
      }
      if (found.points === before) found.nameFile(file, 'no recorded position')
    } catch (error) {
      found.nameFile(file, error instanceof Error ? error.message : String(error))
    }
  }
  await sendBatch()
  page.postMessage({ kind: 'done', found: found.summary() })

  async function take(item: FileItem, { numbersDevices = false }: Format, where: string) {
    if (item.kind === 'other') return found.leaveOut(`no positions: ${item.what}`, where)
    if (item.kind === 'broken') return found.leaveOut(item.message, where)
    const named = numbersDevices ? undefined : item.point.deviceId
    const device = deviceId === '' ? named : deviceId
    if (device === undefined) return found.leaveOut('it names no device', where)
    const { report, dropped } = reportOf(item.point, { deviceId: device })
    if (dropped > 0) found.leaveOut('some attributes: too long, or too many', where)
    for (const name of item.point.misspelt ?? []) {
      found.leaveOut(`the field ${name}: is its name misspelt?`, where)
    }
    found.add(report)
    if (!isSent) return undefined
    const { length } = JSON.stringify(report)
    if (batch.length === MOST_REPORTS || characters + length > MOST_CHARACTERS) await sendBatch()
    batch.push(report)
    characters += length
    return undefined
  }

  async function sendBatch(): Promise<void> {
    if (batch.length === 0) return
    const sent = new Promise<void>((resolve) => (go = resolve))
    page.postMessage({ kind: 'batch', reports: batch })
    batch = []
    characters = 0
    await sent
  }

  function show(): void {
    const now = Date.now()
    if (now - shownAt < SHOWN_EVERY_MS) return
    shownAt = now
    page.postMessage({ kind: 'progress', bytes, points: found.points })
  }
}

const MOST_PLACES = 2_000

/** Counts what files contain. */
class Found {
  points = 0
  readonly #devices = new Map<string, { count: number; from: string; to: string }>()
  readonly #leftOut = new Map<string, { count: number; where: string }>()
  #places: [number, number][] = []
  #every = 1

  add({ deviceId, timestamp = '', latitude, longitude }: UnjudgedReport): void {
    this.points += 1
    const device = this.#devices.get(deviceId)
    if (device === undefined) {
      this.#devices.set(deviceId, { count: 1, from: timestamp, to: timestamp })
    } else {
      device.count += 1
      if (timestamp < device.from) device.from = timestamp
      if (timestamp > device.to) device.to = timestamp
    }
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return
    if (this.points % this.#every === 0) this.#places.push([latitude, longitude])
    if (this.#places.length < MOST_PLACES) return
    this.#places = this.#places.filter((_, n) => n % 2 === 0)
    this.#every *= 2
  }

  leaveOut(reason: string, where: string): void {
    const known = this.#leftOut.get(reason) ?? { count: 0, where }
    this.#leftOut.set(reason, { ...known, count: known.count + 1 })
  }

  /** Explains what is wrong with a file as a whole. */
  nameFile({ name }: File, reason: string): void {
    this.#leftOut.set(`${name}: ${reason}`, { count: 0, where: name })
  }

  summary(): FoundHistory {
    return {
      points: this.points,
      devices: [...this.#devices].map(([deviceId, { count, from, to }]) => {
        return { deviceId, count, from, to }
      }),
      leftOut: [...this.#leftOut].map(([reason, { count, where }]) => ({ reason, count, where })),
      places: this.#places,
    }
  }
}

/** The text of a file, in the encoding that it declares; also compressed with gzip. */
async function* textOfFile(file: File, onBytes: (bytes: number) => void): Text {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = first === 0x1f && second === 0x8b
  const bytes = countItems(file.stream() as ReadableStream<Uint8Array>, onBytes)
  const plain = isGzip ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes
  const reader = (plain as ReadableStream<Uint8Array>).getReader()
  let begin = new Uint8Array()
  let isEnd = false
  while (begin.length < ENCODING_BYTES && !isEnd) {
    const { value = new Uint8Array(), done } = await reader.read()
    begin = joinChunks(begin, value)
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

function countItems(
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

function joinChunks(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}
