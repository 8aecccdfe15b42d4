import type { Readable } from 'node:stream'

const KEPT_BYTES = 1_024
/** Read to keep the connection open; beyond this length it is closed. */
const MOST_BYTES = 64 * 1_024
/** The status has arrived: the body is only for operators to look at. */
const WITHIN_MS = 2_000

/** The beginning of a body as text. An endless body, or one that stops halfway, is closed. */
export async function firstBytes(body: Readable): Promise<string> {
  const timer = setTimeout(() => body.destroy(), WITHIN_MS)
  const kept: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length))
      length += chunk.length
      if (length > MOST_BYTES) break
    }
  } catch {
    // The part that has arrived is shown.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return new TextDecoder().decode(Buffer.concat(kept)).replace(/\uFFFD$/, '')
}
