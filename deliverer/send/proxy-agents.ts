import { Agent, request as requestHttp, type AgentOptions, type ClientRequestArgs } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { EndedRequestError } from './request-failure.ts'

const SILENT = 'the proxy does not respond'

type Connected = (error: Error | null, socket: Duplex) => void

/** Agents whose connections are tunnels through a proxy (CONNECT), which resolves the names. */
export function proxyAgents(
  proxy: URL,
  { withinMs, ...options }: AgentOptions & { readonly withinMs: number },
): { readonly 'http:': Agent; readonly 'https:': TlsAgent } {
  const { username, password } = proxy
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const isAnonymous = username === '' && password === ''
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`
  const address = new URL(proxy)
  address.username = address.password = ''

  function tunnel({ host, port }: ClientRequestArgs, connected: Connected): void {
    const name = host ?? ''
    const path = `${name.includes(':') ? `[${name}]` : name}:${Number(port)}`
    const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)(address, {
      method: 'CONNECT',
      path,
      agent: false,
      headers: { host: path, ...(!isAnonymous && { 'proxy-authorization': authorization }) },
    })
    const timer = setTimeout(() => request.destroy(new EndedRequestError(SILENT)), withinMs)
    request.once('close', () => clearTimeout(timer))
    const handleError = (error: Error) => {
      request.destroy()
      connected(error, undefined as unknown as Duplex)
    }
    request.once('connect', ({ statusCode }, socket: Socket) => {
      clearTimeout(timer)
      if (statusCode === 200) connected(null, socket)
      else handleError(new EndedRequestError(`the proxy responded with ${statusCode}`))
    })
    request.once('error', handleError).end()
  }

  const plain = new Agent(options)
  const tls = new TlsAgent(options)
  plain.createConnection = (to, connected) => {
    tunnel(to, connected as Connected)
    return undefined
  }
  tls.createConnection = (to, connected) => {
    tunnel(to, (error, socket) => {
      if (error !== null) return (connected as Connected)(error, socket)
      const made = { ...(to as ConnectionOptions), socket: socket as Socket }
      ;(connected as Connected)(null, connectTls(made))
    })
    return undefined
  }
  return { 'http:': plain, 'https:': tls }
}
