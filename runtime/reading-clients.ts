import type { Socket } from 'node:net'
import { unacknowledgedBytes } from './unacknowledged.ts'

/** Tells clients that read slowly from those that do not read. */
export class ReadingClients {
  readonly #seen = new WeakMap<Socket, string>()

  /**
   * Whether the client has read nothing since the last look at its connection. The first look finds no
   * fault with any, because there is nothing to compare.
   */
  async hasStopped(socket: Socket): Promise<boolean> {
    const before = this.#seen.get(socket)
    const now = `${socket.bytesWritten - socket.writableLength} ${await unacknowledgedBytes(socket)}`
    this.#seen.set(socket, now)
    return before === now
  }
}
