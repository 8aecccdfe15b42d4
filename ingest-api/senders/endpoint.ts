import type { HttpContext, HttpState } from '../../runtime/http.ts'

export type ReportState = HttpState & {
  /** Of the answer, also if the endpoint throws: names and values in turn. */
  readonly headers: string[]
  /** Room that was taken for the request, and is given back once its work is done. */
  heldBytes: number
}

/** Takes the reports of one request and tells what to answer in the envelope, with 200. */
export type Endpoint = (
  ctx: HttpContext<ReportState>,
) => Promise<{ readonly message: string; readonly data: unknown }>
