/** One rendering serves all who ask within this time: it costs milliseconds, and anybody may ask. */
const SHARED_MS = 1_000

/** The text that `render` gives, rendered once a second at most, as bytes that all answers share. */
export function metricsPage(render: () => Promise<string>): () => Promise<Buffer> {
  let renderedAt = -Infinity
  let page: Promise<Buffer> | undefined

  return function metricsPage() {
    const now = performance.now()
    if (page === undefined || now - renderedAt >= SHARED_MS) {
      renderedAt = now
      page = render().then((text) => Buffer.from(text))
    }
    return page
  }
}
