/** One real answer of the service, for the bare server to repeat. */
export type SampleAnswer = {
  readonly status: number
  /** Names and values alternating, as received. */
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** Headers that the server sets itself. */
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
