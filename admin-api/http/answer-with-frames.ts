import { Readable } from 'node:stream'
import { ReadingClient } from '../../runtime/http/reading-client.ts'
import type { AdminContext } from './admin-route.ts'
import { compressTexts, takesGzip } from './compress.ts'

/**
 * After a response ends, the client has this long to read the rest before the connection is cut.
 */
const CUT_AFTER_MS = 500

/**
 * Responds with frames, each rendered only when the client has read the previous ones. Ends with
 * them, or shortly after `signal` is aborted. Returns a function that resolves with the number of
 * milliseconds for which the client has read nothing while data waits for it.
 */
export function answerWithFrames(
  ctx: AdminContext,
  frames: AsyncGenerator<string, void>,
  {
    signal,
    chunkBytes,
  }: {
    signal: AbortSignal
    /** How much is rendered at a time, and buffered for a slow client. */
    chunkBytes: number
  },
): () => Promise<number> {
  const { res, req } = ctx
  const client = new ReadingClient(req.socket)
  let offeredAt: number | undefined
  let readAt = 0

  async function* timeFrames(): AsyncGenerator<string | Buffer, void> {
    for await (const frame of takesGzip(ctx) ? compressTexts(frames) : frames) {
      offeredAt = performance.now()
      yield frame
      offeredAt = undefined
    }
  }

  setHeaders(ctx)
  ctx.body = Readable.from(timeFrames(), { objectMode: false, highWaterMark: chunkBytes })
  signal.addEventListener('abort', () => {
    const cut = setTimeout(() => res.destroy(), CUT_AFTER_MS).unref()
    res.once('close', () => clearTimeout(cut))
  })
  return async function stalledForMs() {
    if (offeredAt === undefined) return 0
    const now = performance.now()
    if (!(await client.hasStopped())) readAt = now
    return now - Math.max(offeredAt, readAt)
  }
}

/** Like `answerWithFrames`, without the frames: for HEAD. */
export function setHeaders(ctx: AdminContext): void {
  ctx.status = 200
  if (takesGzip(ctx)) ctx.set('Content-Encoding', 'gzip')
  ctx.set({
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
    // The connection is not reused, so shutting down need not wait for it.
    Connection: 'close',
  })
}
