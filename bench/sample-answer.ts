/** One real answer of the service, to be sent again by the bare server. */
export type SampleAnswer = {
  readonly status: number
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** What the server sets itself. */
const OWN = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** The answer as arguments of `writeHead` and `end`. */
export function answerOf({ status, rawHeaders, body }: SampleAnswer) {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!OWN.has(name.toLowerCase())) headers[name] = rawHeaders[at + 1] ?? ''
  }
  headers['Content-Length'] = String(Buffer.byteLength(body))
  return { status, headers, body }
}
