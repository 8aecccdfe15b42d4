import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { carryOut } from '../fork.ts'

/** Asked first for its URL, later for the number of items that it has accepted. */
export type ReceiverOrder = 'listen' | 'count'

let items = 0
const server = createServer((request, response) => {
  text(request).then(
    (body) => {
      const { data } = JSON.parse(body) as { readonly data: { readonly items: readonly unknown[] } }
      items += data.items.length
      response.writeHead(204).end()
    },
    () => response.destroy(),
  )
})

/** A receiver of batches in a process of its own. */
carryOut(async (order: ReceiverOrder): Promise<string | number> => {
  if (order === 'count') return items
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
