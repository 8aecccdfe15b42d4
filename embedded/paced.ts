/**
 * Calls `tell` immediately, but at most once every `everyMs`; calls in between are combined into one at the
 * end of the interval.
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
