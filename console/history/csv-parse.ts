import { transform } from 'csv-parse-core'

/** The parser of csv-parse without Node's streams, which would be larger than everything else. */
export function parse(options: object) {
  const core = transform(options)
  const listeners = new Map<string, (error?: Error) => void>()
  let isOver = false

  function take(bytes: Uint8Array | undefined, isEnd: boolean): void {
    if (isOver) return
    const error = core.parse(
      bytes,
      isEnd,
      () => undefined,
      () => undefined,
    )
    isOver = isEnd || error !== undefined
    if (error !== undefined) listeners.get('error')?.(error)
    if (isOver) queueMicrotask(() => listeners.get('close')?.())
  }

  return {
    on: (event: string, listener: (error?: Error) => void) => void listeners.set(event, listener),
    once: (event: string, listener: () => void) => void listeners.set(event, listener),
    resume: () => undefined,
    destroy: () => void (isOver = true),
    write(text: string, done: () => void): void {
      take(Buffer.from(text), false)
      done()
    },
    end: () => take(undefined, true),
  }
}
