import { Readable } from 'node:stream'
import type { AdminContext } from '../http/admin-route.ts'

export type ConnectionOptions = {
  /** How much is made at a time, and held in the process for a client that takes no more. */
  readonly chunkBytes: number
}

/** What has been ended is cut when the client has not taken the rest of it by then. */
const CUT_AFTER_MS = 500

/**
 * Answers with frames, each made only when the client has taken those before; ends with them, or
 * shortly after `signal` is aborted. Gives for how long, in milliseconds, the client has taken nothing
 * of what waits for it.
 */
export function answerWithFrames(
  ctx: AdminContext,
  frames: AsyncGenerator<string, void>,
  { signal, chunkBytes }: ConnectionOptions & { signal: AbortSignal },
): () => number {
  const { res } = ctx
  let offeredAt: number | undefined

  async function* offered(): AsyncGenerator<string, void> {
    for await (const frame of frames) {
      offeredAt = performance.now()
      yield frame
      offeredAt = undefined
    }
  }

  setHeaders(ctx)
  ctx.body = Readable.from(offered(), { objectMode: false, highWaterMark: chunkBytes })
  signal.addEventListener('abort', () => {
    const cut = setTimeout(() => res.destroy(), CUT_AFTER_MS).unref()
    res.once('close', () => clearTimeout(cut))
  })
  return () => (offeredAt === undefined ? 0 : performance.now() - offeredAt)
}

/** As `answerWithFrames`, without the frames: for HEAD. */
export function setHeaders(ctx: AdminContext): void {
  ctx.status = 200
  ctx.set({
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
    // The connection carries nothing after it, and need not be waited for when the service stops.
    Connection: 'close',
  })
}
