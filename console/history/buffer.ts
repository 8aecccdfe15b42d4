/** The parts of Node's Buffer used by the readers of histories. */
class BrowserBuffer extends Uint8Array {
  static override from(value: unknown, encoding?: unknown): BrowserBuffer {
    if (typeof value !== 'string') return new BrowserBuffer(value as ArrayLike<number>)
    if (encoding === 'base64') return decodeCodes(atob(base64(value)))
    if (encoding === 'latin1') return decodeCodes(value)
    return new BrowserBuffer(new TextEncoder().encode(value))
  }

  static allocUnsafe(size: number): BrowserBuffer {
    return new BrowserBuffer(size)
  }

  static isBuffer(value: unknown): value is BrowserBuffer {
    return value instanceof BrowserBuffer
  }

  static byteLength(text: string): number {
    return new TextEncoder().encode(text).length
  }

  static concat(parts: readonly Uint8Array[]): BrowserBuffer {
    const whole = new BrowserBuffer(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
      if (a[at] !== b[at]) return (a[at] as number) - (b[at] as number)
    }
    return a.length - b.length
  }

  equals(other: Uint8Array): boolean {
    return BrowserBuffer.compare(this, other) === 0
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    target.set(super.subarray(start, end), targetStart)
    return end - start
  }

  override slice(start?: number, end?: number): BrowserBuffer {
    return super.subarray(start, end) as BrowserBuffer
  }

  override toString(encoding = 'utf8', start = 0, end = this.length): string {
    const bytes = super.subarray(start, end)
    if (encoding === 'latin1') return Array.from(bytes, (one) => String.fromCharCode(one)).join('')
    return new TextDecoder().decode(bytes)
  }
}

/** Decodes both Base64 alphabets, skipping the same characters as Node. */
function base64(text: string): string {
  const plain = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^0-9A-Za-z+/]/g, '')
  return plain.length % 4 === 1 ? plain.slice(0, -1) : plain
}

function decodeCodes(text: string): BrowserBuffer {
  return new BrowserBuffer(Array.from(text, (one) => one.charCodeAt(0)))
}

Object.assign(globalThis, { Buffer: BrowserBuffer })
