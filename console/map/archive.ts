import { EtagMismatch, FetchSource, type RangeResponse, type Source } from 'pmtiles'

/**
 * In the built-in file, these bytes hold the header, the directories and the tiles of the first zoom
 * levels.
 */
const START_BYTES = 65_536

/**
 * A PMTiles file whose start is read in one request, once for all maps: a first view would
 * otherwise request header, directory and tiles one after the other.
 */
export class Archive implements Source {
  readonly #file: FetchSource
  #start: Promise<RangeResponse> | undefined

  constructor(url: string) {
    this.#file = new FetchSource(url)
  }

  getKey(): string {
    return this.#file.getKey()
  }

  /** Reads the start unless it is known; rejects if the file does not exist (yet). */
  start(): Promise<RangeResponse> {
    this.#start ??= this.#file.getBytes(0, START_BYTES).catch((error: unknown) => {
      this.#start = undefined
      throw error
    })
    return this.#start
  }

  /** Whether the server responds with 404, for example while the map is being built. */
  async isMissing(): Promise<boolean> {
    const answer = await fetch(this.getKey(), { method: 'HEAD' }).catch(() => undefined)
    return answer?.status === 404
  }

  /** @throws {EtagMismatch} if the file has changed since its header was read. */
  async getBytes(
    offset: number,
    length: number,
    signal?: AbortSignal,
    etag?: string,
  ): Promise<RangeResponse> {
    if (offset + length <= START_BYTES) {
      const start = await this.start()
      if (etag === undefined || start.etag === etag) {
        return { ...start, data: start.data.slice(offset, offset + length) }
      }
    }
    try {
      return await this.#file.getBytes(offset, length, signal, etag)
    } catch (error) {
      if (error instanceof EtagMismatch) this.#start = undefined
      throw error
    }
  }
}
