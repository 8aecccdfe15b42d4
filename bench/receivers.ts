import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Body = { readonly data: { readonly items: readonly { readonly data: { id: string } }[] } }

/**
 * Receivers of webhooks in batches. `/all` keeps the ids of facts, `/fails` answers 500, `/hangs` never answers,
 * others accept. A GET answers with the number of items that were accepted.
 */
export async function startReceivers() {
  const ids = new Set<string>()
  const received = { requests: 0, items: 0, firstAt: NaN, lastAt: NaN, firstItems: 0 }

  async function answer(path: string, body: Promise<string>, response: ServerResponse) {
    received.requests += 1
    const { items } = (JSON.parse(await body) as Body).data
    if (path === '/hangs') return
    response.writeHead(path === '/fails' ? 500 : 204).end()
    if (path === '/fails') return
    if (path === '/all') for (const { data } of items) ids.add(data.id)
    received.items += items.length
    received.lastAt = performance.now()
    if (received.items > items.length) return
    received.firstAt = received.lastAt
    received.firstItems = items.length
  }

  const server = createServer((request, response) => {
    if (request.method === 'GET') response.end(String(received.items))
    else answer(request.url ?? '', text(request), response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ids,
    received,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
