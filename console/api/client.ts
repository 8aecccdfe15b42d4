import type { paths } from './schema.ts'
import { ApiFailure, failureOf, unreachableFailure } from '../core/failure.ts'
import { addressOf } from '../core/address.ts'

/**
 * The prefix of the admin API, whose calls follow the OpenAPI document; paths are given without it.
 */
const PREFIX = '/api/v1'
const LONGEST_MS = 30_000

type Verb = 'get' | 'post' | 'patch' | 'delete'
type Paths<V extends Verb> = {
  [P in keyof paths]: paths[P][V] extends { responses: unknown } ? P : never
}[keyof paths]
type Short<P> = P extends `${typeof PREFIX}${infer Rest}` ? Rest : never
type Called<V extends Verb, S extends string> = paths[`${typeof PREFIX}${S}` & keyof paths][V]

type CallArguments<O> = O extends {
  parameters: { query?: infer Q; path?: infer P }
  requestBody?: infer B
}
  ? Optional<'query', Q> & Needed<'path', P> & Body<B>
  : never
type Optional<Name extends string, T> = [T] extends [undefined]
  ? object
  : { readonly [N in Name]?: { readonly [P in keyof T]: T[P] | undefined } }
type Needed<Name extends string, T> = [T] extends [undefined]
  ? object
  : { readonly [N in Name]: Exclude<T, undefined> }
type Body<B> = [Exclude<B, undefined>] extends [never]
  ? object
  : Exclude<B, undefined> extends { content: { 'application/json': infer J } }
    ? undefined extends B
      ? { readonly body?: J }
      : { readonly body: J }
    : object
type Data<O> = O extends { responses: infer R }
  ? R[keyof R & (200 | 201 | 202)] extends { content: { 'application/json': { data: infer D } } }
    ? D
    : never
  : never

type CallOptions = { readonly signal?: AbortSignal }

function caller<V extends Verb>(verb: V) {
  return <S extends Short<Paths<V>>>(
    path: S,
    given: CallArguments<Called<V, S>> & CallOptions,
  ): Promise<Data<Called<V, S>>> =>
    call(verb, path, given as CallParts) as Promise<Data<Called<V, S>>>
}

/**
 * `api.get('/devices/{deviceId}', { path: { deviceId } })` resolves with the response's `data`. If
 * the session has ended, the operator signs in again first and the call is repeated.
 *
 * @throws {ApiFailure}
 */
export const api = {
  get: caller('get'),
  post: caller('post'),
  patch: caller('patch'),
  delete: caller('delete'),
}

/** Asks the operator to sign in again; false if they decline. */
let renewSession: () => Promise<boolean> = () => Promise.resolve(false)

export function onSessionEnded(renew: () => Promise<boolean>): void {
  renewSession = renew
}

type CallParts = CallOptions & {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  readonly body?: unknown
}

async function call(verb: Verb, path: string, parts: CallParts): Promise<unknown> {
  try {
    return await callOnce(verb, path, parts)
  } catch (failure) {
    if (!(failure instanceof ApiFailure) || failure.status !== 401) throw failure
    if (!(await renewSession())) throw failure
    return callOnce(verb, path, parts)
  }
}

/** Like `api`, for the sign-in calls themselves. */
export async function callOnce(verb: Verb, path: string, parts: CallParts = {}): Promise<unknown> {
  const { body, signal } = parts
  const timeout = AbortSignal.timeout(LONGEST_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(urlOf(path, parts), {
      method: verb.toUpperCase(),
      headers: {
        Accept: 'application/json',
        'X-Requested-With': 'console',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    noteServerTime(Date.parse(response.headers.get('Date') ?? ''))
    text = await response.text()
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw unreachableFailure(cause)
  }
  const envelope = parseJson(text)
  if (response.ok && envelope !== undefined) return envelope['data']
  throw failureOf(response, envelope)
}

export function urlOf(path: string, { path: names = {}, query = {} }: CallParts = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(names[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? ''].flat()) if (one !== '') search.append(name, String(one))
  }
  return addressOf(`${PREFIX}${filled}${search.size > 0 ? `?${search}` : ''}`)
}

let offsetMs = 0

/**
 * The server's current time, which report ages refer to; this machine's clock may be minutes off.
 */
export function serverNow(): number {
  return Date.now() + offsetMs
}

/** @param second of the server's clock, from a response header. */
export function noteServerTime(second: number): void {
  // The header has whole seconds, and the response took time to arrive.
  const differsMs = second + 500 - Date.now()
  if (Number.isFinite(differsMs)) offsetMs = Math.abs(differsMs) > 2_000 ? differsMs : 0
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

/** All items of a list: if items are large, a page has fewer than its limit. */
export async function allPages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await read(cursor)
    all.push(...items)
    if (nextCursor === null) return all
    cursor = nextCursor
  }
}
