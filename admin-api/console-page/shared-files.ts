import { open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

/** Bytes of a file that are in memory for each client that does not read. */
const CHUNK_BYTES = 16 * 1024

export type ByteRange = { readonly start: number; readonly end: number }

type SharedFile = { readonly handle: Promise<FileHandle>; readers: number }

/**
 * Files that are open once, regardless of the number of their readers: a file for each would leave
 * devices no descriptors for their connections.
 */
export class SharedFiles {
  readonly #open = new Map<string, SharedFile>()

  /**
   * Opens a version of a file, or joins those that read it. `end` of the range is inclusive. The caller
   * calls `release` once it reads no more.
   */
  async read(
    file: string,
    version: string,
    range: ByteRange,
  ): Promise<{ readonly bytes: Readable; readonly release: () => void }> {
    const id = `${version} ${file}`
    const shared = this.#open.get(id) ?? { handle: open(file), readers: 0 }
    this.#open.set(id, shared)
    shared.readers += 1
    const release = () => {
      shared.readers -= 1
      if (shared.readers > 0) return
      this.#open.delete(id)
      shared.handle.then((handle) => handle.close()).catch(() => undefined)
    }
    try {
      const chunks = read(await shared.handle, range)
      const bytes = Readable.from(chunks, { objectMode: false, highWaterMark: CHUNK_BYTES })
      return { bytes, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

async function* read(handle: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer, void> {
  for (let position = start; position <= end;) {
    const length = Math.min(CHUNK_BYTES, end + 1 - position)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, position)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
