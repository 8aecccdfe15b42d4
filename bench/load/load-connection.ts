import { connect, type Socket } from 'node:net'

export type LoadAnswer = { readonly status: number; readonly body: string }

/**
 * One persistent HTTP/1.1 connection with one outstanding request. It implements just enough of
 * HTTP for our servers' answers, which always state their length.
 */
export class LoadConnection {
  readonly #socket: Socket
  #received = ''
  #onAnswer: ((answer: LoadAnswer | undefined) => void) | undefined
  closed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => this.#receive(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.closed = true
      this.#settle(undefined)
    })
  }

  static open({ host, port }: { host: string; port: number }): Promise<LoadConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new LoadConnection(socket))
      })
    })
  }

  /**
   * `onAnswer` gets the answer, or undefined if the connection ended before the answer was
   * complete.
   */
  send(request: string, onAnswer: (answer: LoadAnswer | undefined) => void): void {
    this.#onAnswer = onAnswer
    if (this.closed) return this.#settle(undefined)
    this.#socket.write(request, 'latin1')
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: string): void {
    this.#received = this.#received === '' ? chunk : this.#received + chunk
    const text = this.#received
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
    if (length === undefined) {
      this.#socket.destroy(new Error('an answer without a length'))
      return
    }
    const whole = end + 4 + Number(length)
    if (text.length < whole) return
    this.#received = ''
    this.#settle({ status: Number(text.slice(9, 12)), body: text.slice(end + 4, whole) })
  }

  #settle(answer: LoadAnswer | undefined): void {
    const onAnswer = this.#onAnswer
    this.#onAnswer = undefined
    onAnswer?.(answer)
  }
}
