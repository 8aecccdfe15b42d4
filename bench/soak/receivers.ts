import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Body = { readonly data: { readonly items: readonly { readonly data: { id: string } }[] } }

/** Receivers of webhooks: `/all` keeps the ids that it got, `/fails` answers 500, `/hangs` never answers, others accept. */
export async function startReceivers() {
  const received = new Set<string>()
  let requests = 0

  async function answer(path: string, body: Promise<string>, response: ServerResponse) {
    requests += 1
    const content = await body
    if (path === '/hangs') return
    if (path === '/all') {
      for (const { data } of (JSON.parse(content) as Body).data.items) received.add(data.id)
    }
    response.writeHead(path === '/fails' ? 500 : 204).end()
  }

  const server = createServer((request, response) => {
    answer(request.url ?? '', text(request), response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    requests: () => requests,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
