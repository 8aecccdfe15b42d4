/**
 * Blocks a process at its first call of this name, until it is released, to another call or for
 * good.
 */
export function held(first: string) {
  let at: string | undefined = first
  let goOn: () => void = () => undefined
  let arrived: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (arrived = resolve))
  return {
    reached,
    async before(call: string): Promise<void> {
      if (call !== at) return
      at = undefined
      await new Promise<void>((resolve) => {
        goOn = resolve
        arrived()
      })
    },
    /** With another call given, it resolves once that is reached. */
    release(next?: string): Promise<void> {
      at = next
      const there = new Promise<void>((resolve) => (arrived = resolve))
      goOn()
      return next === undefined ? Promise.resolve() : there
    },
  }
}
