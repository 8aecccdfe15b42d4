import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * Acts as a user's own map server: it answers every tile, and parts of the file at
 * `/town.pmtiles` to pages of any origin.
 */
export async function startMapServer(file: Buffer) {
  const asked: { readonly path: string; readonly referer: string | undefined }[] = []
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request
    asked.push({ path, referer: headers.referer })
    const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'range' }
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end()
    if (path !== '/town.pmtiles') {
      return response.writeHead(200, { 'Content-Type': 'image/png' }).end(PIXEL)
    }
    const [, first = '0', last = '0'] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '') ?? []
    return response.writeHead(206, cors).end(file.subarray(Number(first), Number(last) + 1))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
