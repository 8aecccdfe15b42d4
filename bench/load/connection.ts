import { once } from 'node:events'
import { connect } from 'node:net'

export type LoadAnswer = { readonly status: number; readonly body: string }

/** Gets undefined if the connection ended before the response was complete. */
type OnAnswer = (answer: LoadAnswer | undefined) => void

export type LoadConnection = Awaited<ReturnType<typeof openConnection>>

/**
 * One persistent HTTP/1.1 connection with one outstanding request. It implements just enough of
 * HTTP for our servers' responses, which always state their length.
 */
export async function openConnection({ hostname: host, port }: URL) {
  const socket = connect({ host, port: Number(port) })
  await once(socket, 'connect')
  let received = ''
  let onAnswer: OnAnswer | undefined

  function settle(answer: LoadAnswer | undefined): void {
    const settled = onAnswer
    onAnswer = undefined
    settled?.(answer)
  }

  function receive(chunk: string): void {
    received += chunk
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1]
    if (length === undefined) {
      socket.destroy(new Error('an answer without a length'))
      return
    }
    const whole = end + 4 + Number(length)
    if (received.length < whole) return
    const answer = { status: Number(received.slice(9, 12)), body: received.slice(end + 4, whole) }
    received = ''
    settle(answer)
  }

  socket.setNoDelay(true).setEncoding('latin1')
  socket.on('data', receive)
  socket.on('error', () => undefined)
  socket.on('close', () => settle(undefined))
  return {
    isClosed: () => socket.destroyed,
    send(request: string, answered: OnAnswer): void {
      onAnswer = answered
      if (socket.destroyed) setImmediate(settle, undefined)
      else socket.write(request, 'latin1')
    },
    close: () => void socket.destroy(),
  }
}
