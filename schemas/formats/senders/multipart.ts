import { isUtf8 } from 'node:buffer'
import { ILL_FORMED, type Fields } from './fields.ts'

const LINE_END = '\r\n'
const HEADERS_END = '\r\n\r\n'
/** Headers of a part are a line or two; what is longer is the beginning of its content. */
const HEADERS_BYTES = 1024
/** A logger sends a dozen. */
const MOST_PARTS = 100

/**
 * The fields of a body of `multipart/form-data` (RFC 7578), without its files; if a field is repeated, the
 * first counts. Undefined if the body is malformed, or ends too early.
 */
export function multipartFields(body: Buffer, contentType: string): Fields | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined || boundary.length > 70) return undefined
  const first = body.indexOf(`--${boundary}`)
  if (first === -1) return undefined
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`)
  const fields: Record<string, string> = {}
  let from = first + delimiter.length - LINE_END.length
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    if (body.subarray(from, from + 2).equals(DASHES)) return fields
    const to = body.indexOf(delimiter, from)
    if (to === -1) return undefined
    addField(fields, body.subarray(from, to))
    from = to + delimiter.length
  }
  return undefined
}

const DASHES = Buffer.from('--')

/** @param part from the end of the delimiter's text to the next delimiter. */
function addField(fields: Record<string, string>, part: Buffer): void {
  const length = part.subarray(0, HEADERS_BYTES).indexOf(HEADERS_END)
  if (length === -1) return
  const headers = part.toString('utf8', 0, length)
  if (/;\s*filename\*?=/i.test(headers)) return
  const name = /;\s*name="?([^"\r\n;]*)/i.exec(headers)?.[1]
  // This also keeps the properties that every object has from being overwritten.
  if (name === undefined || fields[name] !== undefined) return
  const content = part.subarray(length + HEADERS_END.length)
  fields[name] = isUtf8(content) ? content.toString('utf8') : ILL_FORMED
}
