/**
 * Calls `tell` at once, and while it is asked to more often, once every `everyMs`, the last time
 * included.
 */
export function paced(everyMs: number, tell: () => void): () => void {
  let toldAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  function tellNow(): void {
    timer = undefined
    toldAt = performance.now()
    tell()
  }

  return () => {
    if (timer !== undefined) return
    const waitMs = toldAt + everyMs - performance.now()
    if (waitMs <= 0) tellNow()
    else timer = setTimeout(tellNow, waitMs).unref()
  }
}
