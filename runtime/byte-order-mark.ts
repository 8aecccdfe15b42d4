const MARK = Buffer.from('\ufeff')

/** The bytes after a byte order mark in UTF-8, which a parser of JSON may ignore (RFC 8259, section 8.1). */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const isMarked = bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2]
  return isMarked ? bytes.subarray(MARK.length) : bytes
}
