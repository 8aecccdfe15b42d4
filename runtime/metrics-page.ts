/** The time for which one rendering is reused: it costs milliseconds, and `/metrics` is open to everybody. */
const SHARED_MS = 1_000

/** The output of `render`, refreshed at most once a second, in a buffer that all answers share. */
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
