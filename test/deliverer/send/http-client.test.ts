/** @node all */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test } from '@jest/globals'
import { httpClient, type HttpClient } from '../../../deliverer/send/http-client.ts'
import { requestFailure } from '../../../deliverer/send/request-failure.ts'
import { parseNetwork } from '../../../runtime/outbound/outbound-url.ts'
import { CERTIFICATE } from './certificate.ts'

const LOOPBACK = [parseNetwork('127.0.0.0/8')!]
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

function client(options: Partial<Parameters<typeof httpClient>[0]> = {}): HttpClient {
  const made = httpClient({ networks: LOOPBACK, ...options })
  closers.push(() => made.close())
  return made
}

async function listen(server: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A receiver and the requests that it got. */
async function receiver(answer: RequestListener) {
  const requests: string[] = []
  const port = await listen(
    createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      answer(request, response)
    }),
  )
  return { port, requests, url: `http://127.0.0.1:${port}/hook/s3cret` }
}

const post = (made: HttpClient, url: string) => made.post({ url, headers: { a: 'b' }, body: '{}' })

describe('answers', () => {
  test('a receiver gets headers and body; the status and start of its response are returned', async () => {
    const seen: unknown[] = []
    const { url } = await receiver((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        seen.push(request.headers['a'], body)
        response.writeHead(503, { 'retry-after': '7' }).end('ü'.repeat(600))
      })
    })
    const answer = await post(client(), url)
    expect(seen).toEqual(['b', '{}'])
    expect(answer).toMatchObject({ status: 503, retryAfterMs: 7_000, text: 'ü'.repeat(512) })
  })

  test('a redirect is returned, not followed', async () => {
    const other = await receiver((_request, response) => response.end())
    const { url } = await receiver((_request, response) =>
      response.writeHead(302, { location: other.url }).end(),
    )
    expect(await post(client(), url)).toMatchObject({ status: 302 })
    expect(other.requests).toEqual([])
  })

  test.each([
    ['https://www.example.org/hook/s3cret', 'https://www.example.org/…/…'],
    ['/hook/s3cret/', 'ORIGIN/…/…/'],
    ['/users/sign_in?from=%2Fhook%2Fs3cret', 'ORIGIN/users/sign_in'],
    ['//me:pw@other.example:8443/hooks/9f3b2c7d1e#x', 'https://other.example:8443/hooks/…'],
    ['https://other.example', 'https://other.example/'],
  ])('a redirect to %s is reported with its target, without secrets', async (location, shown) => {
    const { url } = await receiver((_request, response) =>
      response.writeHead(308, { location: location.replace(/^\/\//, 'https://') }).end(),
    )
    const { status, failure } = await post(client(), url)
    const origin = shown.replace('ORIGIN', new URL(url).origin)
    expect([status, failure]).toEqual([
      308,
      `status 308, a redirect to ${origin}: enter the URL that it leads to`,
    ])
  })

  test.each([undefined, 'mailto:a@example.org', 'http://['])(
    'a redirect to %s is a status like others',
    async (location) => {
      const { url } = await receiver((_request, response) =>
        response.writeHead(302, location === undefined ? {} : { location }).end(),
      )
      expect(await post(client(), url)).not.toHaveProperty('failure')
    },
  )

  test('only the start of an endless response is read, and the connection is closed', async () => {
    let isClosed = () => {}
    const closed = new Promise<void>((resolve) => (isClosed = resolve))
    const { url } = await receiver((_request, response) => {
      const write = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', write).on('close', isClosed)
      write()
    })
    expect(await post(client(), url)).toMatchObject({ status: 200, text: 'x'.repeat(1_024) })
    await closed
  })

  test.each<[string, readonly string[]]>([
    [
      '100 Continue',
      ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ],
    [
      'it twice, with headers',
      [
        'HTTP/1.1 100 Continue\r\na: b\r\n\r\nHTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      ],
    ],
    [
      'it in pieces, and then 103',
      [
        'HTTP/1.1 10',
        '0 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 2',
        '00 OK\r\ncontent-length: 0\r\n\r\n',
      ],
    ],
  ])('a receiver that first responds %s has accepted each request', async (_what, parts) => {
    let connections = 0
    const port = await listen(
      createTcpServer({ noDelay: true }, (socket) => {
        connections += 1
        socket.on('data', (data) => {
          if (!String(data).endsWith('{}')) return
          parts.forEach((part, n) => setTimeout(() => socket.write(part), 20 * n))
        })
      }),
    )
    const made = client()
    const url = `http://127.0.0.1:${port}/`
    expect(await post(made, url)).toMatchObject({ status: 200 })
    expect(await post(made, url)).toMatchObject({ status: 200 })
    // The connection is reused for the next request.
    expect(connections).toBe(1)
  })

  test('a receiver that sends 100 Continue, as frameworks do, has accepted the request', async () => {
    const { url } = await receiver((request, response) => {
      response.writeContinue()
      request.resume().on('end', () => response.writeHead(204).end())
    })
    expect(await post(client(), url)).toMatchObject({ status: 204 })
  })

  test('interim responses are skipped, up to a limit', async () => {
    const polite = await receiver((_request, response) => {
      for (let n = 0; n < 5; n += 1) response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.writeProcessing()
      response.writeHead(204).end()
    })
    expect(await post(client(), polite.url)).toMatchObject({ status: 204 })
    let isClosed = () => {}
    const closed = new Promise<void>((resolve) => (isClosed = resolve))
    const endless = await listen(
      createTcpServer((socket) => {
        const write = () => {
          while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n'));
        }
        socket.on('drain', write).on('close', isClosed)
        socket.once('data', write)
      }),
    )
    const answer = await post(client(), `http://127.0.0.1:${endless}/`)
    expect(answer).toMatchObject({ failure: 'too many interim responses (1xx) before a response' })
    await closed
  })

  test('a response aborted after its status counts', async () => {
    const { url } = await receiver((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    expect(await post(client(), url)).toMatchObject({ status: 200 })
  })

  test('a receiver that never responds, or closes the connection, has failed', async () => {
    const silent = await receiver(() => undefined)
    const answer = await post(client({ answersWithinMs: 200 }), silent.url)
    expect(answer).toMatchObject({ failure: 'no response within 0.2 s', text: '' })
    const closing = await receiver((request) => request.socket.destroy())
    const { failure } = await post(client(), closing.url)
    expect(failure).toBe('the connection was closed before a response')
  })
})

describe('addresses', () => {
  const resolveTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

  test('a name that resolves to this machine is rejected, and the error names the variable', async () => {
    const { port, requests } = await receiver((_request, response) => response.end())
    const made = client({ networks: [], resolveName: resolveTo('127.0.0.1') })
    const answer = await post(made, `https://rebound.example:${port}/`)
    expect(answer.failure).toMatch(/not public; WEBHOOK_ALLOW_NETWORKS/)
    expect(requests).toEqual([])
  })

  test('a name is rejected if any of its addresses is not public', async () => {
    const made = client({ networks: [], resolveName: resolveTo('1.1.1.1', '10.0.0.1') })
    expect((await post(made, 'https://two.example/')).failure).toMatch(/WEBHOOK_ALLOW_NETWORKS/)
  })

  test('a name is resolved once per connection, and the same addresses are checked and used', async () => {
    const { port, requests } = await receiver((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end()
    })
    const asked: string[] = []
    // A resolver that first returns an allowed address, then one that is not allowed.
    const resolveName = async (name: string) => {
      asked.push(name)
      return [{ address: asked.length === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]
    }
    const made = client({ resolveName })
    expect(await post(made, `http://rebinding.example:${port}/`)).toMatchObject({ status: 200 })
    expect(asked).toHaveLength(1)
    const { failure } = await post(made, `http://rebinding.example:${port}/`)
    expect(failure).toMatch(/WEBHOOK_ALLOW_NETWORKS/)
    expect([asked.length, requests.length]).toEqual([2, 1])
  })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]'])(
    'the address %s is rejected before a connection',
    async (host) => {
      const { port, requests } = await receiver((_request, response) => response.end())
      const { failure } = await post(client({ networks: [] }), `https://${host}:${port}/`)
      expect(failure).toMatch(/WEBHOOK_ALLOW_NETWORKS/)
      expect(requests).toEqual([])
    },
  )

  test('without TLS, only allowed networks can be reached', async () => {
    const made = client({ resolveName: resolveTo('1.1.1.1') })
    expect((await post(made, 'http://public.example/')).failure).toMatch(/must start with https/)
  })
})

test.each<[string, (socket: Socket) => void]>([
  ['never responds', () => undefined],
  [
    'trickles',
    (socket) => {
      // The header of a 16 KiB record, then a byte of it now and then.
      socket.write(Buffer.from([0x16, 0x03, 0x03, 0x40, 0x00]))
      const timer = setInterval(() => socket.write('\x02'), 20)
      socket.on('close', () => clearInterval(timer))
    },
  ],
])(
  'a receiver whose TLS handshake %s has failed, and its connection is closed',
  async (_how, answer) => {
    let isClosed = () => {}
    const closed = new Promise<void>((resolve) => (isClosed = resolve))
    const server = createTcpServer((socket) => {
      socket.on('close', isClosed).resume()
      answer(socket)
    })
    const port = await listen(server)
    const { failure, milliseconds } = await post(
      client({ answersWithinMs: 300 }),
      `https://127.0.0.1:${port}/`,
    )
    expect(failure).toMatch(/^no (response within 0.3 s|connection in time)$/)
    expect(milliseconds).toBeGreaterThanOrEqual(290)
    await closed
  },
)

test('a certificate for another host is a failure', async () => {
  const port = await listen(createHttpsServer(CERTIFICATE, (_request, response) => response.end()))
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'other.example',
    ca: CERTIFICATE.cert,
  })
  const [error] = (await once(socket, 'error')) as [unknown]
  expect(requestFailure(error)).toBe('the certificate is for another host')
})

test('a certificate that cannot be verified is a failure', async () => {
  const port = await listen(createHttpsServer(CERTIFICATE, (_request, response) => response.end()))
  const { failure } = await post(client(), `https://127.0.0.1:${port}/`)
  expect(failure).toBe('the certificate is self-signed')
})

/** A proxy to one port that records requested targets and their authorization. */
async function startProxy(port: number, status = 200) {
  const asked: (string | undefined)[][] = []
  const proxy = createServer().on('connect', (request, socket: Socket) => {
    asked.push([request.url, request.headers['proxy-authorization']])
    const onwards = connect(port, '127.0.0.1', () => {
      socket.write(`HTTP/1.1 ${status} Fine\r\n\r\n`)
      if (status === 200) onwards.pipe(socket).pipe(onwards)
      else socket.end()
    })
    onwards.on('error', () => socket.destroy())
    socket.on('error', () => onwards.destroy())
  })
  return { asked, port: await listen(proxy) }
}

test('requests use the configured proxy and ignore proxies from the environment', async () => {
  const target = await receiver((_request, response) => response.end('made it'))
  const { asked, port } = await startProxy(target.port)
  const made = client({ proxy: `http://127.0.0.1:${port}` })
  expect(await post(made, 'http://inside.example:8080/')).toMatchObject({ text: 'made it' })
  expect(await post(made, 'http://inside.example:8080/')).toMatchObject({ text: 'made it' })
  expect(asked).toEqual([['inside.example:8080', undefined]])
  process.env['HTTP_PROXY'] = `http://127.0.0.1:${port}`
  closers.push(() => delete process.env['HTTP_PROXY'])
  expect(await post(client(), target.url)).toMatchObject({ text: 'made it' })
  expect(asked).toHaveLength(1)
})

test('a proxy gets its user name and password; certificates are verified through it', async () => {
  const target = createHttpsServer(CERTIFICATE, (_request, response) => response.end())
  const { asked, port } = await startProxy(await listen(target))
  const made = client({ proxy: `http://me%40x:p%3Aw@127.0.0.1:${port}` })
  const { failure } = await post(made, 'https://inside.example/')
  expect(failure).toBe('the certificate is self-signed')
  const authorization = `Basic ${Buffer.from('me@x:p:w').toString('base64')}`
  expect(asked).toEqual([['inside.example:443', authorization]])
})

test('a failure names the proxy as its reason if the proxy refuses or never responds', async () => {
  const target = await receiver((_request, response) => response.end())
  const { port } = await startProxy(target.port, 407)
  const refused = await post(client({ proxy: `http://127.0.0.1:${port}` }), 'https://a.example/')
  expect(refused.failure).toBe('the proxy responded with 407')
  const silent = await listen(createTcpServer((socket) => socket.resume()))
  const proxy = `http://127.0.0.1:${silent}`
  const { failure } = await post(client({ proxy, answersWithinMs: 300 }), 'https://a.example/')
  expect(failure).toBe('the proxy does not respond')
})

test('a failure names only the host of a URL', async () => {
  const urls = [
    'http://127.0.0.1:1/s3cret',
    'https://127.0.0.1:1/s3cret?token=s3cret',
    'http://x.invalid/s3cret',
  ]
  const resolveName = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
  }
  const answers = await Promise.all(urls.map((url) => post(client({ resolveName }), url)))
  expect(answers.map(({ failure }) => failure)).toEqual([
    'the connection was refused',
    'the connection was refused',
    'no such host',
  ])
})
