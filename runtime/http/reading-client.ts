import { readFile, readlink } from 'node:fs/promises'
import { isIPv4, type Socket } from 'node:net'

/**
 * The bytes of a connection accepted by the kernel, and how many of them the client has not
 * acknowledged.
 */
type Look = { readonly takenBytes: number; readonly unacknowledged: number | undefined }

/** Distinguishes a client that reads slowly from one that has stopped reading. */
export class ReadingClient {
  readonly #socket: Socket
  #before: Look | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /**
   * Whether it has read nothing since the last check. False at the first check, which has nothing
   * to compare.
   */
  async hasStopped(): Promise<boolean> {
    const before = this.#before
    const taken = countTakenBytes(this.#socket)
    const unacknowledged = await unacknowledgedBytes(this.#socket)
    // The kernel may accept more during a check. The lower count is stored, the higher compared: in
    // doubt a client counts as reading.
    this.#before = { takenBytes: taken, unacknowledged }
    const now = { takenBytes: countTakenBytes(this.#socket), unacknowledged }
    return before !== undefined && !hasRead(before, now)
  }
}

/**
 * The kernel may accept more while its client reads nothing, so only acknowledged bytes count where
 * they are known.
 */
function hasRead(before: Look, now: Look): boolean {
  if (before.unacknowledged === undefined || now.unacknowledged === undefined) {
    return before.takenBytes !== now.takenBytes || before.unacknowledged !== now.unacknowledged
  }
  return (
    now.unacknowledged < before.unacknowledged ||
    now.takenBytes - now.unacknowledged > before.takenBytes - before.unacknowledged
  )
}

type Handle = {
  readonly fd: number
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

function handleOf(socket: Socket): Handle | null | undefined {
  return (socket as unknown as { readonly _handle?: Handle | null })._handle
}

/** Node counts a write only once all of it is accepted; its handle knows the part. */
export function countTakenBytes(socket: Socket): number {
  const handle = handleOf(socket)
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten
}

/** With thousands of connections, the kernel takes milliseconds to write its table. */
const SHARED_MS = 500

type Table = { readonly readAt: number; readonly text: Promise<string> }
const tables = new Map<string, Table>()

/**
 * Reads the number of bytes sent on a connection but not yet acknowledged by its client, from the
 * kernel's table; undefined if the kernel has no such table. They show that a slow client is
 * reading: the kernel accepts further writes only once a third of its buffer of some megabytes is
 * free.
 */
export async function unacknowledgedBytes(socket: Socket): Promise<number | undefined> {
  const isIn = isIPv4(socket.localAddress ?? '') ? 'tcp' : 'tcp6'
  const [text, name] = await Promise.all([
    readTable(`/proc/net/${isIn}`),
    readlink(`/proc/self/fd/${handleOf(socket)?.fd}`).catch(() => ''),
  ])
  const inode = /^socket:\[(\d+)\]$/.exec(name)?.[1]
  // Followed by the number of references and an address in the kernel.
  const at = inode === undefined ? -1 : text.search(new RegExp(` ${inode} \\d+ [\\da-f]{8}`))
  if (at === -1) return undefined
  const [, , , , queues = ''] = text.slice(text.lastIndexOf('\n', at), at).trim().split(' ')
  return Number.parseInt(queues, 16)
}

function readTable(file: string): Promise<string> {
  const now = performance.now()
  const known = tables.get(file)
  if (known !== undefined && now - known.readAt < SHARED_MS) return known.text
  const text = readFile(file, 'latin1').catch(() => '')
  tables.set(file, { readAt: now, text })
  return text
}
