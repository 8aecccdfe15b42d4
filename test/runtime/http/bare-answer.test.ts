import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { refuseConnection } from '../../../runtime/http/bare-answer.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'

test('a rejected client that keeps sending is still disconnected after its response', async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    refuseConnection(socket, 'REQUEST_TIMEOUT', 'too slow'),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // The connection stays open although the server has ended its side.
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const sending = setInterval(() => client.write(' '), 50)
  closeAfterwards(() => {
    clearInterval(sending)
    client.destroy()
    server.close()
  })
  client.on('error', () => undefined)
  let answer = ''
  client.on('data', (chunk) => (answer += chunk.toString()))
  await eventually(() => client.destroyed)
  expect(answer).toMatch(/^HTTP\/1\.1 408 REQUEST_TIMEOUT\r\n/)
})
