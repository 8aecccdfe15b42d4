import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createReadStream } from 'node:fs'

/** Bytes between two calls of `onBytes`. */
const AT_ONCE = 1 << 20

/** The hash of a file. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: AT_ONCE })) {
    hash.update(chunk as Buffer)
  }
  return hash.digest('hex')
}

/** Copies a file to a new one, which is on disk when this resolves. Returns the hash of what was copied. */
export async function copyFile(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256')
  const target = await open(to, 'wx', 0o600)
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: AT_ONCE })) {
      hash.update(chunk as Buffer)
      await target.writeFile(chunk as Buffer)
      onBytes((chunk as Buffer).length)
    }
    await target.sync()
  } finally {
    await target.close()
  }
  return hash.digest('hex')
}
