import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { Compression, EtagMismatch, PMTiles, ResolvedValueCache, TileType } from 'pmtiles'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'

/** How long it may take to notice that a file was replaced or restored. */
const LOOK_AGAIN_MS = 10_000
/** A directory of a file of the whole world is 1.5 MB in memory. */
const DIRECTORIES_KEPT = 16
const LARGEST_PART_BYTES = 32 * 1024 * 1024

/**
 * The vector tiles of a PMTiles file on this machine. The file may be missing, broken or replaced
 * at any time: then there is no tile, and a warning says so once.
 */
export class MapFile {
  readonly path: string
  /** The file's version at the last check. */
  lastVersion: string | undefined
  readonly #name: string
  readonly #clock: Clock
  readonly #logger: Pick<Logger, 'warn'>
  readonly #archive: PMTiles
  #lookedAt = -Infinity
  #looking: Promise<string | undefined> = Promise.resolve(undefined)
  #warned = false

  constructor({
    path,
    name,
    clock,
    logger,
  }: {
    path: string
    name: string
    clock: Clock
    logger: Pick<Logger, 'warn'>
  }) {
    this.path = path
    this.#name = name
    this.#clock = clock
    this.#logger = logger
    const source = { getKey: () => path, getBytes: partsOf(path) }
    const directories = new ResolvedValueCache(DIRECTORIES_KEPT, false, decompress)
    this.#archive = new PMTiles(source, directories, decompress)
  }

  /** Changes with the file's content; undefined while the file cannot be read. */
  version(): Promise<string | undefined> {
    const age = this.#clock.now() - this.#lookedAt
    if (age < 0 || age >= LOOK_AGAIN_MS) {
      this.#lookedAt = this.#clock.now()
      this.#looking = this.#look()
    }
    return this.#looking
  }

  async #look(): Promise<string | undefined> {
    try {
      const version = await openForUse(this.path, async (_file, tag) => tag)
      if (version !== this.lastVersion) {
        this.#warned = false
        await this.#archive.cache.invalidate(this.#archive.source)
      }
      this.lastVersion = version
    } catch (error) {
      this.lastVersion = undefined
      this.#warn(error)
    }
    return this.lastVersion
  }

  /** Undefined if the file has no such tile, or cannot be read. */
  async tile<Made>(
    { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
    read: (bytes: Uint8Array) => Made,
  ): Promise<Made | undefined> {
    try {
      const { tileType, minZoom, maxZoom } = await this.#archive.getHeader()
      if (tileType !== TileType.Mvt || z < minZoom || z > maxZoom) return undefined
      const tile = await this.#archive.getZxy(z, x, y)
      return tile && read(new Uint8Array(tile.data))
    } catch (error) {
      // The file may have been replaced or deleted.
      this.#lookedAt = -Infinity
      this.#warn(error)
      return undefined
    }
  }

  #warn(error: unknown): void {
    if (this.#warned) return
    this.#warned = true
    this.#logger.warn(
      { map: this.#name, file: this.path, reason: reasonOf(error) },
      'could not read streets from a map of MAP_PMTILES: positions get only town names',
    )
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : (code ?? message)
}

type Opened = Awaited<ReturnType<typeof open>>

/**
 * Opens the file for each read, so a replaced file is noticed immediately and no descriptor stays
 * open.
 */
async function openForUse<Read>(
  path: string,
  use: (file: Opened, tag: string) => Promise<Read>,
): Promise<Read> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Error('it is not a file')
    return await use(file, `${stats.ino} ${stats.size} ${stats.mtimeMs}`)
  } finally {
    await file.close()
  }
}

function partsOf(path: string) {
  return (offset: number, length: number, _signal?: AbortSignal, known?: string) =>
    openForUse(path, async (file, etag) => {
      // The library then reads the header again.
      if (known !== undefined && known !== etag) throw new EtagMismatch(etag)
      const data = new ArrayBuffer(length)
      const { bytesRead } = await file.read(new Uint8Array(data), 0, length, offset)
      // The library requests a fixed part for the header, which may be longer than the file.
      if (bytesRead < length && offset > 0) throw new Error('it is cut off')
      return { data, etag }
    })
}

const inflate = { gunzip: promisify(gunzip), brotli: promisify(brotliDecompress) }

async function decompress(bytes: ArrayBuffer, compression: Compression): Promise<ArrayBuffer> {
  if (compression === Compression.None || compression === Compression.Unknown) return bytes
  const most = { maxOutputLength: LARGEST_PART_BYTES }
  if (compression === Compression.Gzip) return copyBytes(await inflate.gunzip(bytes, most))
  if (compression === Compression.Brotli) return copyBytes(await inflate.brotli(bytes, most))
  throw new Error('its compression is not supported: use gzip')
}

function copyBytes(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
