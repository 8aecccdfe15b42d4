/** Asks again only when the last answer is older than `forMs`; failures are not remembered. */
export function remembered<T>(ask: () => Promise<T>, { forMs }: { forMs: number }) {
  let last: { readonly answer: Promise<T>; until: number } | undefined
  return async function answer(): Promise<T> {
    const now = performance.now()
    if (last === undefined || now >= last.until) {
      const current = { answer: ask(), until: now + forMs }
      last = current
      current.answer.catch(() => (current.until = 0))
    }
    return last.answer
  }
}
