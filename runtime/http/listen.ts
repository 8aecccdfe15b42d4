import { spawn, type SendHandle } from 'node:child_process'
import { createServer, type Server } from 'node:net'

const BACKLOG = 1024
/**
 * It usually takes tens of milliseconds. A server without further handles is only slower under
 * load.
 */
const HANDED_BACK_WITHIN_MS = 5_000

/** The script of a process that sends a handle back as many times as requested. */
const HAND_BACK = `process.on('message', (times, handle) => {
  for (let n = 0; n < times; n += 1) process.send('', handle)
})`

/**
 * Listens with `handles` handles of one socket, and returns the servers of all but the first: these
 * pass on their connections, and must be closed with the first.
 *
 * In each event-loop turn libuv accepts one connection per handle. If a server with one
 * handle has long turns, new clients wait for seconds, and clients with a connection for each
 * request share neither a turn nor a commit.
 * @throws {Error} if the port is in use or not allowed, or the machine has no such address.
 */
export async function listen(
  server: Server,
  {
    host,
    port,
    handles,
    variable = 'the port',
  }: {
    host: string
    port: number
    handles: number
    /** The setting that names the port. */
    variable?: string | undefined
  },
): Promise<Server[]> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(refusal(error, { host, port, variable }))
    })
    server.listen({ host, port, backlog: BACKLOG }, resolve)
  })
  return handles === 1 ? [] : duplicates(server, handles - 1)
}

/** An error that says how to fix it. */
function refusal(
  error: NodeJS.ErrnoException,
  { host, port, variable }: { host: string; port: number; variable: string },
): Error {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use: stop the program that uses it, or set ${variable} to another one`,
    EACCES: `port ${port} of ${host} is not allowed to this user: set ${variable} to one of 1024 or more`,
    EADDRNOTAVAIL: `this machine has no address ${host}: set HOST to one that it has, 127.0.0.1 or 0.0.0.0`,
    ENOTFOUND: `the name ${host} has no address: set HOST to an address of this machine`,
    EAI_AGAIN: `the name ${host} cannot be resolved, because no DNS server answers: set HOST to an address of this machine`,
  }
  const message = messages[error.code ?? '']
  return message === undefined ? error : new Error(message, { cause: error })
}

/** Node makes a second handle of a socket only by sending it to another process. */
function duplicates(server: Server, count: number): Promise<Server[]> {
  const { _handle: handle } = server as unknown as { readonly _handle: SendHandle }
  return new Promise((resolve) => {
    const servers: Server[] = []
    const child = spawn(process.execPath, ['-e', HAND_BACK], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const finish = () => {
      clearTimeout(timer)
      child.removeAllListeners('message').kill()
      resolve(servers)
    }
    const timer = setTimeout(finish, HANDED_BACK_WITHIN_MS)
    child.on('error', finish).on('exit', finish)
    child.on('message', (_told, duplicate) => {
      servers.push(createPassingServer(server).listen(duplicate, BACKLOG))
      if (servers.length === count) finish()
    })
    child.send(count, handle)
  })
}

/** Creates a server that passes its connections to an HTTP server, with that server's options. */
function createPassingServer(server: Server): Server {
  const options = { allowHalfOpen: true, noDelay: true }
  return createServer(options, (socket) => server.emit('connection', socket))
}
