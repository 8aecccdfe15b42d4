import { open, rename, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A waiting line, and where it ends in the file. */
export type JournalEntry = { readonly text: string; readonly json: object; readonly end: number }

const CHUNK_BYTES = 256 * 1024
/** Settled entries are truncated once they are this long and half of the file. */
const COMPACT_BYTES = 4 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * Lines in a file, first in, first out, each a JSON object. A line that is a number is a mark: all
 * lines before that offset are settled. A line truncated by a crash is incomplete, and a line
 * garbled by a power cut is not JSON; both are skipped, because their `append` never resolved. If a
 * mark is lost, some lines are just returned again.
 *
 * Calls must not overlap.
 */
export class Journal {
  readonly #file: string
  #handle: FileHandle
  #end = 0
  #settled = 0
  #size = 0
  /** Whether the file's name is on disk. */
  #isNamed = true

  private constructor(file: string, handle: FileHandle) {
    this.#file = file
    this.#handle = handle
  }

  static async open(file: string): Promise<Journal> {
    const handle = await openOrMake(file)
    const journal = new Journal(file, handle)
    try {
      await journal.#recover()
    } catch (error) {
      await handle.close()
      throw error
    }
    return journal
  }

  /** The number of waiting lines. */
  get size(): number {
    return this.#size
  }

  /** Resolves once the lines are on disk. If it rejects, none of them is in the file. */
  async append(texts: readonly string[]): Promise<void> {
    await this.#write(texts.map((text) => `${text}\n`).join(''), { durably: true })
    this.#size += texts.length
  }

  /** The first waiting lines, at least one if there are any. */
  async first({ most, mostBytes }: { most: number; mostBytes: number }): Promise<JournalEntry[]> {
    const entries: JournalEntry[] = []
    let bytes = 0
    for await (const entry of this.#entries()) {
      bytes += Buffer.byteLength(entry.text)
      if (entries.length > 0 && bytes > mostBytes) break
      entries.push(entry)
      if (entries.length === most) break
    }
    return entries
  }

  /** Settles `count` lines, up to one that `first` has returned. */
  async settle(count: number, { end }: JournalEntry): Promise<void> {
    this.#size -= count
    this.#settled = end
    if (this.#size === 0) {
      await this.#handle.truncate(0)
      this.#end = this.#settled = 0
    } else if (this.#settled > COMPACT_BYTES && this.#settled > this.#end / 2) {
      await this.#compact()
    } else {
      await this.#write(`${this.#settled}\n`, { durably: false })
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #recover(): Promise<void> {
    let begin = 0
    for await (const { text, end } of this.#lines(0)) {
      if (/^\d+$/.test(text) && Number(text) <= begin) this.#settled = Number(text)
      begin = this.#end = end
    }
    await this.#handle.truncate(this.#end)
    const entries = this.#entries()
    while ((await entries.next()).done !== true) this.#size += 1
  }

  async #write(text: string, { durably }: { durably: boolean }): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      await writeAt(this.#handle, bytes, this.#end)
      if (durably) {
        await this.#handle.datasync()
        if (!this.#isNamed) await this.#syncName()
      }
    } catch (error) {
      await this.#handle.truncate(this.#end)
      throw error
    }
    this.#end += bytes.length
  }

  /** Replaces the file by one with only the waiting lines. */
  async #compact(): Promise<void> {
    const name = `${this.#file}.new`
    const fresh = new Journal(this.#file, await open(name, 'w+', 0o600))
    try {
      let text = ''
      for await (const entry of this.#entries()) {
        text += `${entry.text}\n`
        if (text.length < CHUNK_BYTES) continue
        await fresh.#write(text, { durably: false })
        text = ''
      }
      await fresh.#write(text, { durably: true })
      await rename(name, this.#file)
    } catch (error) {
      await fresh.close()
      throw error
    }
    // Synchronous: from here on the old file has no name.
    const old = this.#handle
    this.#handle = fresh.#handle
    this.#end = fresh.#end
    this.#settled = 0
    this.#isNamed = false
    await old.close()
    await this.#syncName()
  }

  async #syncName(): Promise<void> {
    await syncFolder(this.#file)
    this.#isNamed = true
  }

  async *#entries(): AsyncGenerator<JournalEntry> {
    for await (const { text, end } of this.#lines(this.#settled)) {
      const json = parseObject(text)
      if (json !== undefined) yield { text, json, end }
    }
  }

  /** The complete lines from an offset on. */
  async *#lines(from: number): AsyncGenerator<{ text: string; end: number }> {
    let rest: Buffer = Buffer.alloc(0)
    for (let place = from; ;) {
      const chunk = await readAt(this.#handle, place, CHUNK_BYTES)
      if (chunk.length === 0) return
      place += chunk.length
      const bytes = Buffer.concat([rest, chunk])
      const start = place - bytes.length
      let begin = 0
      for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, begin)) {
        yield { text: bytes.toString('utf8', begin, at), end: start + at + 1 }
        begin = at + 1
      }
      rest = bytes.subarray(begin)
    }
  }
}

function parseObject(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}

async function openOrMake(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r+')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  }
  const handle = await open(file, 'wx+', 0o600)
  await syncFolder(file)
  return handle
}

/** Makes the file's name durable. Windows cannot, and need not. */
async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(dirname(file))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function readAt(handle: FileHandle, from: number, most: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(most)
  const { bytesRead } = await handle.read(buffer, 0, most, from)
  return buffer.subarray(0, bytesRead)
}

async function writeAt(handle: FileHandle, bytes: Buffer, from: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, from + done)
    done += bytesWritten
  }
}
