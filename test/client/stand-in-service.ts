import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Timing } from '../../client/timing.ts'
import { closeAfterwards } from '../closing.ts'

/** The stand-in's response; `hang-up` closes the connection without one. */
export type Reply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly data?: unknown }
  | 'hang-up'

export type Received = {
  readonly path: string
  readonly key: string
  readonly body: string
  readonly idempotencyKey?: string
}

/**
 * A real HTTP server instead of the service: it records requests and sends predefined responses.
 */
export async function standInService(
  reply: (request: Received, index: number) => Reply | Promise<Reply>,
): Promise<{ url: URL; received: Received[]; close: () => Promise<void> }> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request
    const { authorization: key = '', 'idempotency-key': idempotencyKey } = headers
    const asked = {
      path,
      key,
      body: await bodyOf(request),
      ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
    }
    const given = await reply(asked, received.push(asked) - 1)
    if (given === 'hang-up') request.socket.destroy()
    else response.writeHead(given.status, given.headers).end(JSON.stringify(given.data ?? {}))
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  closeAfterwards(close)

  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { url, received, close }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
  return body
}

export function acknowledged(recordId: string): Reply {
  return {
    status: 200,
    data: { success: true, data: { recordId, receivedAt: '2026-01-31T12:30:01.000Z' } },
  }
}

export function refused(status: number, error: string, headers: Record<string, string> = {}) {
  return { status, headers, data: { success: false, error } }
}

/** A clock that skips every pause and records its length. */
export function jumpingTiming(): Timing & { readonly pauses: number[] } {
  let jumped = 0
  const pauses: number[] = []
  return {
    pauses,
    now: () => performance.timeOrigin + performance.now() + jumped,
    async pause(ms) {
      pauses.push(ms)
      jumped += ms
    },
    jitter: () => 0.5,
  }
}
