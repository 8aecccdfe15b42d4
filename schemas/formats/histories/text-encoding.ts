import { UnreadableError } from './format.ts'
import { describeUnreadBytes } from './unread.ts'

/** The number of bytes that determine an encoding. */
export const ENCODING_BYTES = 1024

const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
] as const
const XML_DECLARATION = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/

/** For files that are not text: each character is a byte. */
const BYTES = 'bytes'
const FIT = /^[^]{8}\.FIT/

/**
 * Detects a text's encoding from its first bytes: a byte order mark, UTF-16 without a mark, or an
 * XML declaration; otherwise UTF-8.
 * @throws {UnreadableError} if the encoding is unknown, or the file is known to be something else.
 */
export function encodingOf(begin: Uint8Array): string {
  const ascii = latin1(begin.subarray(0, ENCODING_BYTES))
  if (FIT.test(ascii)) return BYTES
  const unread = describeUnreadBytes(ascii)
  if (unread !== undefined) throw new UnreadableError(unread)
  const mark = MARKS.find(([, bytes]) => bytes.every((byte, index) => begin[index] === byte))
  if (mark !== undefined) return mark[0]
  const zeros = [...begin.subarray(0, 4)].map((byte) => (byte === 0 ? '0' : '1')).join('')
  if (zeros === '0101') return 'utf-16be'
  if (zeros === '1010') return 'utf-16le'
  const named = XML_DECLARATION.exec(ascii)?.[1] ?? 'utf-8'
  // The declaration itself is not in UTF-16, so the file was converted without changing its
  // declaration.
  if (/^(?:utf-?(?:16|32)|ucs-?2)/i.test(named)) return 'utf-8'
  try {
    return new TextDecoder(named).encoding
  } catch (error) {
    throw new UnreadableError(`its encoding ${named} is not known`, { cause: error })
  }
}

/** The text of a whole file. @throws {UnreadableError} if it is not text. */
export function decodeText(bytes: Uint8Array): string {
  const decoder = textDecoder(encodingOf(bytes))
  const { text, fault } = decoder.decode(bytes)
  const end = decoder.end()
  if (fault !== undefined || end.fault !== undefined) throw fault ?? end.fault!
  return text
}

/** Decodes a text chunk by chunk; the text before a fault is returned first. */
export function textDecoder(encoding: string): {
  decode(chunk: Uint8Array): { readonly text: string; readonly fault?: UnreadableError }
  end(): { readonly fault?: UnreadableError }
} {
  if (encoding === BYTES) return { decode: (chunk) => ({ text: latin1(chunk) }), end: () => ({}) }
  const strict = new TextDecoder(encoding, { fatal: true })
  // Only this decoder returns the text before a fault.
  const lenient = new TextDecoder(encoding)

  function decode(chunk: Uint8Array, stream: boolean) {
    try {
      return { text: strict.decode(chunk, { stream }) }
    } catch (error) {
      if (!isInvalidData(error)) throw error
      const fault = new UnreadableError(`it is not text in ${encoding.toUpperCase()}`, {
        cause: error,
      })
      const [text = ''] = lenient.decode(chunk, { stream }).split('\ufffd', 1)
      return { text, fault }
    }
  }

  return {
    decode(chunk) {
      const decoded = decode(chunk, true)
      if (decoded.fault === undefined) lenient.decode(chunk, { stream: true })
      return decoded
    },
    end: () => decode(new Uint8Array(), false),
  }
}

function isInvalidData(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
