/** Chunks rendered and written in one turn of the event loop, by all readers together: a few milliseconds. */
const CHUNKS_A_TURN = 16

/**
 * Spreads the work of many readers over turns of the event loop, first come, first served. A reader that has
 * fallen behind would otherwise write megabytes in one turn, because the kernel takes them immediately, and a
 * hundred of them would hold up every other call for seconds.
 */
export function sharedTurns(chunksATurn = CHUNKS_A_TURN): () => Promise<void> {
  const waiting: (() => void)[] = []
  let left = chunksATurn
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const next = waiting.splice(0, chunksATurn)
      left = chunksATurn - next.length
      if (next.length > 0) schedule()
      for (const proceed of next) proceed()
    })
  }

  return async function nextTurn() {
    schedule()
    if (left > 0) left -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
}
