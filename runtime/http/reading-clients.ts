import { isIPv4, type Socket } from 'node:net'
import { readFile } from 'node:fs/promises'

/** The bytes of a connection that the kernel has taken, and those of them that the client has not acknowledged. */
type Look = { readonly takenBytes: number; readonly unacknowledged: number | undefined }

/** Distinguishes clients that read slowly from those that have stopped reading. */
export class ReadingClients {
  readonly #seen = new WeakMap<Socket, Look>()

  /**
   * Whether the client has read nothing since the last look at its connection. False at the first look, because
   * there is nothing to compare.
   */
  async hasStopped(socket: Socket): Promise<boolean> {
    const before = this.#seen.get(socket)
    const taken = takenBytes(socket)
    const unacknowledged = await unacknowledgedBytes(socket)
    // The kernel may take more during a look. The lower count is kept, the higher compared: in doubt a client reads.
    this.#seen.set(socket, { takenBytes: taken, unacknowledged })
    const now = { takenBytes: takenBytes(socket), unacknowledged }
    return before !== undefined && !hasRead(before, now)
  }
}

/** The kernel may take more while its client reads nothing, so only acknowledged bytes count where they are known. */
function hasRead(before: Look, now: Look): boolean {
  if (before.unacknowledged === undefined || now.unacknowledged === undefined) {
    return before.takenBytes !== now.takenBytes || before.unacknowledged !== now.unacknowledged
  }
  return (
    now.unacknowledged < before.unacknowledged ||
    now.takenBytes - now.unacknowledged > before.takenBytes - before.unacknowledged
  )
}

/** Node's own count has a write only once all of it is taken; its handle knows the part. */
export function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten
}

/** With thousands of connections, the kernel takes milliseconds to write its table. */
const SHARED_MS = 500

type Table = { readonly readAt: number; readonly text: Promise<string> }
const tables = new Map<string, Table>()

/**
 * The bytes sent on a connection that its client has not acknowledged yet, from the kernel's table; undefined
 * where there is none. They show that a slow client reads: the kernel accepts further writes only once a third of
 * its buffer of some megabytes is free.
 */
export async function unacknowledgedBytes(socket: Socket): Promise<number | undefined> {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket
  const ends = `${endOf(localAddress, localPort)} ${endOf(remoteAddress, remotePort)} `
  const text = await tableIn(isIPv4(localAddress) ? '/proc/net/tcp' : '/proc/net/tcp6')
  const at = text.indexOf(ends)
  if (at === -1) return undefined
  // After two digits of the state and a blank.
  const queue = text.slice(at + ends.length + 3, at + ends.length + 11)
  return Number.parseInt(queue, 16)
}

function tableIn(file: string): Promise<string> {
  const now = performance.now()
  const known = tables.get(file)
  if (known !== undefined && now - known.readAt < SHARED_MS) return known.text
  const text = readFile(file, 'latin1').catch(() => '')
  tables.set(file, { readAt: now, text })
  return text
}

/** An address and a port as the kernel writes them: the bytes of each 32 bits in reverse. */
function endOf(address: string, port: number): string {
  const bytes = isIPv4(address) ? bytesOfIPv4(address) : bytesOfIPv6(address)
  const reversed = bytes.map((_, n) => bytes[n - (n % 4) + 3 - (n % 4)] ?? 0)
  return `${reversed.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`
}

function bytesOfIPv4(address: string): number[] {
  return address.split('.').map(Number)
}

function bytesOfIPv6(address: string): number[] {
  const [text = ''] = address.split('%')
  const [head = [], tail = []] = text.split('::').map((part) =>
    part.split(':').flatMap((group) => {
      if (group === '') return []
      if (isIPv4(group)) return bytesOfIPv4(group)
      const value = Number.parseInt(group, 16)
      return [value >> 8, value & 255]
    }),
  )
  return [
    ...head,
    ...new Array<number>(Math.max(0, 16 - head.length - tail.length)).fill(0),
    ...tail,
  ]
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}
