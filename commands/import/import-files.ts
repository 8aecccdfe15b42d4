import { createReadStream } from 'node:fs'
import { resolve, sep } from 'node:path'
import { createGunzip } from 'node:zlib'
import {
  UnreadableError,
  type Format,
  type FileItem,
  type Text,
} from '../../schemas/formats/histories/format.ts'
import { reportOf } from '../../schemas/formats/histories/report-of.ts'
import { INEXACT_ID, INEXACT_ID_FAULT } from '../../schemas/formats/values.ts'
import type { Outgoing } from './send-history.ts'
import { readPoints } from '../../schemas/formats/histories/read-points.ts'
import {
  ENCODING_BYTES,
  encodingOf,
  textDecoder,
} from '../../schemas/formats/histories/text-encoding.ts'
import type { ImportTally } from './tally.ts'

const STANDARD_INPUT = '-'
const NO_DEVICE = 'its points have no device id: set one with --device ID'
const NUMBERED_DEVICES =
  "its devices are Traccar's internal numbers: give the response of /api/devices with --devices FILE, or one device with --device ID"

export type Import = {
  readonly files: readonly string[]
  readonly format?: Format | undefined
  /** The device of all points, overriding the files. */
  readonly deviceId?: string | undefined
  /** Device ids by Traccar's device numbers. */
  readonly deviceIds?: ReadonlyMap<string, string> | undefined
  /** Only points from this time on, and before the other; in milliseconds. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/**
 * Reads the files one after the other, and delivers the reports of the selected points, in order
 * and not yet validated. Everything else is tallied.
 */
export async function importFiles(
  { files, format, deviceId: onlyDevice, deviceIds, from = -Infinity, to = Infinity }: Import,
  {
    tally,
    onBytes,
    deliver,
  }: {
    tally: ImportTally
    onBytes: (bytes: number) => void
    deliver: (outgoing: Outgoing) => Promise<void>
  },
): Promise<void> {
  for (const file of files) {
    try {
      await importFile(file)
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      tally.unreadable.push({ file, message: error.message })
    }
  }

  async function importFile(file: string): Promise<void> {
    const bytes = bytesOf(file, onBytes)
    const path = file === STANDARD_INPUT ? undefined : resolve(file).replaceAll(sep, '/')
    const { format: known, items: pages } = await readPoints(textOf(bytes), { format, path })
    const nameDevice = deviceNamer(known)
    let points = 0
    for await (const items of pages) {
      for (const item of items) {
        if (item.kind === 'point') points += 1
        await take(item, `${file}, ${known.places} ${item.place}`, nameDevice)
      }
    }
    if (points === 0) tally.withoutPositions.push(file)
  }

  async function take(item: FileItem, where: string, nameDevice: NameDevice): Promise<void> {
    if (item.kind === 'other') return tally.passOver(item.what)
    if (item.kind === 'broken') {
      return tally.skip('unreadable entries', { where, message: item.message })
    }
    const { deviceId: named, misspelt } = item.point
    if (misspelt !== undefined) tally.ignore(misspelt)
    const deviceId = nameDevice(named)
    if (deviceId === undefined) {
      const message =
        named === undefined ? 'it names no device' : `--devices has no device ${named}`
      return tally.skip('deviceId', { where, message })
    }
    // The parsed number has lost digits.
    if (deviceId.includes(INEXACT_ID)) {
      return tally.skip('deviceId', { where, message: INEXACT_ID_FAULT })
    }
    const { time = NaN } = item.point
    if (time < from || time >= to) {
      tally.outside += 1
      return
    }
    const { report, dropped } = reportOf(item.point, { deviceId })
    tally.dropped += dropped
    await deliver({ report, where })
  }

  /**
   * The ids of a file's devices. Throws at the first point if the file cannot be used without an
   * option.
   */
  function deviceNamer({ numbersDevices = false }: Format): NameDevice {
    let namesDevices = false
    return (named) => {
      if (onlyDevice !== undefined) return onlyDevice
      if (numbersDevices) {
        if (deviceIds === undefined) throw new UnreadableError(NUMBERED_DEVICES)
        return deviceIds.get(named ?? '')
      }
      namesDevices ||= named !== undefined
      if (!namesDevices) throw new UnreadableError(NO_DEVICE)
      return named
    }
  }
}

type NameDevice = (named: string | undefined) => string | undefined

async function* bytesOf(
  file: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of file === STANDARD_INPUT ? process.stdin : createReadStream(file)) {
      onBytes((chunk as Uint8Array).length)
      yield chunk as Uint8Array
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new UnreadableError(error.message, { cause: error })
  }
}

const GZIP = Buffer.from([0x1f, 0x8b])
const UNZIPPED_AT_ONCE = 16 * 1024
const BYTE_ORDER_MARKS = /^\ufeff+/

/**
 * The text of a file in the encoding that it declares, or else UTF-8; also compressed with gzip.
 * @throws {UnreadableError} if it is anything else, or damaged; the text before the damage is
 * delivered first.
 */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): Text {
  const { begin, whole } = await peek(bytes)
  if (begin.subarray(0, GZIP.length).equals(GZIP)) {
    yield* textOf(unzip(whole))
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
      // Reported after everything that could be read.
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

/**
 * Everything that can be read of compressed bytes. As a pipe, the stream would drop the bytes
 * directly before the damage.
 */
async function* unzip(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  let read: Uint8Array[] = []
  let fault: UnreadableError | undefined
  gunzip.on('data', (piece: Uint8Array) => read.push(piece))
  let release = (): void => undefined
  gunzip.on('error', (error) => {
    // Without this, a chunk that the consumer cannot read would never be written.
    release()
    fault = new UnreadableError('its compressed data is damaged or incomplete', {
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
