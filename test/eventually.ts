// The real timers, even if a test fakes those of the code.
const { setTimeout } = globalThis
const now = performance.now.bind(performance)

/**
 * Resolves with the first truthy result of `check`, which is called every few milliseconds. Rejects
 * with the last failure after `withinMs`.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 30_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<Truthy<T>> {
  const deadline = now() + withinMs
  let last: unknown
  for (;;) {
    try {
      const result = await check()
      if (result) return result as Truthy<T>
      last = new Error(`still ${String(result)} after ${withinMs} ms`)
    } catch (error) {
      last = error
    }
    if (now() >= deadline) throw last
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>
