import type { HttpContext, HttpState } from '../../runtime/http.ts'

export type ReportState = HttpState & {
  /** Headers of the answer, even if the endpoint throws: names and values in turn. */
  readonly headers: string[]
  /** Bytes held for the request, released once its work is done. */
  heldBytes: number
}

/** Accepts the reports of one request and returns the contents of the envelope for a 200. */
export type Endpoint = (
  ctx: HttpContext<ReportState>,
) => Promise<{ readonly message: string; readonly data: unknown }>
