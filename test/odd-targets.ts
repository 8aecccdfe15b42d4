import { rawConnection } from './raw-connection.ts'

/** The paths of an OpenAPI document with parameters filled in, and their methods. */
export function pathsIn(document: {
  readonly paths?: object
}): { readonly path: string; readonly methods: readonly string[] }[] {
  return Object.entries(document.paths ?? {}).map(([path, operations]) => ({
    path: path.replaceAll(/\{\w+\}/g, 'some-1'),
    methods: Object.keys(operations as object).map((method) => method.toUpperCase()),
  }))
}

/** Request targets that resemble a path but differ from it, such as no client library sends. */
export function oddTargets(path: string): string[] {
  const capitals = path.replaceAll(/[a-z]+/g, (word) => word.toUpperCase())
  const last = path.lastIndexOf('/')
  const encoded = path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  const odd = [
    capitals,
    path.slice(0, last + 1) + path.slice(last + 1).toUpperCase(),
    ...[`/${path}`, `${path}/`, `${path}//`, path.replaceAll('/', '//')],
    ...[`/.${path}`, `/x/..${path}`, `${path}/.`, `${path}/..`],
    ...[encoded, path.replaceAll('/', '%2F'), `/${path.slice(1).replaceAll('/', '%2f')}`],
    ...['%00', '%', '%zz', '%E0%A4', '%ff', '%u0041', '%2e%2e'].flatMap((tail) => [
      path + tail,
      `${path}/${tail}`,
    ]),
    ...[`${path};x=1`, `${path}\\`, `${path}#`, `${path}#x?y`, `${path}\u00a0`],
    ...[path.replaceAll('/', '\\'), `/${path.slice(1).replaceAll('/', '\\')}#`],
    ...[`${path}?%`, `${path}?%ff=%zz`, `${path}?a=%00&a=%00`, `${path}??&&==`],
  ]
  return [...new Set(odd)].filter((target) => target !== path)
}

type OddAnswer = { readonly target: string; readonly status: number; readonly body: string }

/** The responses to requests sent verbatim, each on its own connection. */
export async function answersTo(
  url: string,
  targets: readonly string[],
  { method, key }: { method: string; key?: string },
): Promise<OddAnswer[]> {
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`
  return Promise.all(
    targets.map(async (target) => {
      const lines = `${method} ${target} HTTP/1.1\r\nHost: a\r\n${authorization}`
      const { socket, received, closed } = rawConnection(url, `${lines}Connection: close\r\n\r\n`)
      socket.on('data', () => {
        // A stream never ends by itself.
        if (received().includes('text/event-stream')) socket.destroy()
      })
      await closed
      const [head = '', body = ''] = received().split('\r\n\r\n')
      return { target: `${method} ${target}`, status: Number(head.split(' ')[1]), body }
    }),
  )
}

/** Whether a response is a success, a redirect, or a client error in the envelope. */
export function withoutFault({ target, status, body }: OddAnswer): boolean {
  if (status < 400) return status >= 200
  if (target.startsWith('HEAD')) return status < 500
  const { code, error } = JSON.parse(body) as { code?: number; error?: string }
  // A sender without a valid key may get a 503 on paths of apps that drop points on a 4xx.
  return code === status && (status < 500 || error === 'SERVICE_UNAVAILABLE')
}
