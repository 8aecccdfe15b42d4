import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { AttemptReport } from '../../deliverer/after-attempt.ts'
import { leases } from '../../deliverer/run/lease.ts'
import { itemReader, type ItemStore } from '../../deliverer/run/next-items.ts'
import { runSubscriptions } from '../../deliverer/service.ts'
import { httpClient, type ResolveName } from '../../deliverer/send/http-client.ts'
import { mailSender, type Mailer } from '../../deliverer/send/mail.ts'
import { itemSender } from '../../deliverer/send/send-items.ts'
import { requestSlots } from '../../deliverer/turns.ts'
import type { Feed, Feeds } from '../../event-log/feeds.ts'
import { openFeeds } from '../../event-log/reading/open-feeds.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { parseNetwork } from '../../runtime/outbound/outbound-url.ts'
import { sealedSecrets, type SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import {
  newProgress,
  publicTarget,
  type DeviceSubscription,
  type SigningSecret,
  type SubscriptionProgress,
  type SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { ErasureEntry } from '../../store/read-models.ts'
import { closeAfterwards } from '../closing.ts'
import { batchOf, LogOfOneSuite } from '../contracts/store-samples.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'

export const accountId = 'acc-1'
const consoleUrl = 'https://gps.example.org'

export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Parsed. */
  readonly json: {
    readonly type: string
    readonly timestamp: string
    readonly data: Record<string, unknown> & { readonly items?: readonly Received['json'][] }
  }
}

type Reply = number | ((response: ServerResponse) => void)

/** Receives webhooks; `reply` chooses each response, by default 204. */
export async function startReceiver(
  reply: (request: Received, count: number) => Reply | Promise<Reply> = () => 204,
) {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const isJson = request.headers['content-type']?.includes('json') === true
      const json = (isJson ? JSON.parse(body) : {}) as Received['json']
      const one = { path: request.url ?? '', headers: request.headers, body, json }
      received.push(one)
      const answered = Promise.resolve(reply(one, received.length)).then((answer) => {
        if (typeof answer === 'number') response.writeHead(answer).end()
        else answer(response)
      })
      answered.catch(() => response.destroy())
    })
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAfterwards(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** The ids of the items in each request. */
    ids: () => received.map(({ json }) => idsIn(json)),
  }
}

function idsIn({ type, data }: Received['json']): string[] {
  if (type === 'batch') return (data.items ?? []).flatMap(idsIn)
  return [(data['id'] ?? data['recordId'] ?? type) as string]
}

type Waiting = { readonly at: number; readonly end: () => void }

/** Deliverers on a shared log and store, with a clock that only the test advances. */
export async function startDeliveries() {
  const directory = await ownDirectory()
  const clock = { time: T0, now: () => clock.time }
  const waiting = new Set<Waiting>()
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory, clock })
  const suite = new LogOfOneSuite()
  suite.append(positionReported())
  const secrets = sealedSecrets(randomBytes(32))
  const suspended = new Set<string>()
  const attempts: AttemptReport[] = []
  const logged: object[] = []
  /** The number of times that the deliverers have read a feed and devices. */
  const reads = { feed: 0, devices: 0 }
  let sequence = 0
  closeAfterwards(async () => {
    await store.close()
    await eventLog.close()
  })

  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const one = { at: clock.time + ms, end }
      function end(): void {
        waiting.delete(one)
        signal.removeEventListener('abort', end)
        resolve()
      }
      if (signal.aborted) return resolve()
      waiting.add(one)
      signal.addEventListener('abort', end, { once: true })
    })

  function countingFeeds(feeds: Feeds): Feeds {
    const counting = <Event>(feed: Feed<Event>): Feed<Event> => ({
      ...feed,
      read(query) {
        reads.feed += 1
        return feed.read(query)
      },
    })
    return { facts: counting(feeds.facts), positions: counting(feeds.positions) }
  }

  const countingStore = (): ItemStore => ({
    ...store,
    findDevices(query) {
      reads.devices += 1
      return store.findDevices(query)
    },
  })

  /** Another deliverer; `stop` shuts it down gracefully. */
  function startDeliverer({
    owner = randomUUID(),
    mailer,
    resolveName,
    key = secrets,
    answersWithinMs = 15_000,
  }: {
    owner?: string
    mailer?: Mailer
    resolveName?: ResolveName
    key?: SealedSecrets
    answersWithinMs?: number
  } = {}) {
    const stopping = new AbortController()
    const feeds = openFeeds({
      eventLog,
      factLog: store.factLog,
      store,
      stopping: stopping.signal,
      logger: { debug() {}, warn() {}, error() {} },
      options: { retryMs: 10 },
    })
    const http = httpClient({
      networks: [parseNetwork('127.0.0.0/8')!],
      answersWithinMs,
      ...(resolveName && { resolveName }),
    })
    const running = runSubscriptions({
      store,
      secrets: key,
      clock,
      pause,
      random: () => 0.5,
      stopping: stopping.signal,
      items: itemReader({ feeds: countingFeeds(feeds), store: countingStore() }),
      leases: leases({ store, owner, now: () => clock.now() }),
      send: itemSender({ http, sendMail: mailSender({ store, mailer, consoleUrl }), consoleUrl }),
      slots: requestSlots(),
      isSuspended: (id) => suspended.has(id),
      onAttempt: (attempt) => attempts.push(attempt),
      logger: { warn: (fields) => logged.push(fields) },
    })
    const stop = async () => {
      stopping.abort()
      await running.ended()
      await http.close()
    }
    closeAfterwards(stop)
    return { ...running, stop }
  }

  const find = async (id: string) => {
    const found = await store.findSubscription({ accountId, id })
    if (found === undefined) throw new Error('there is no such subscription')
    return found
  }

  return {
    clock,
    store,
    suspended,
    attempts,
    logged,
    reads,
    startDeliverer,
    find,

    /** Advances time step by step while anything waits for it. */
    async pass(ms: number): Promise<void> {
      clock.time += ms
      for (const one of [...waiting]) if (one.at <= clock.time) one.end()
    },

    /** Resolves once `count` pauses have started. */
    idle: (count = 1) => eventually(() => waiting.size >= count),

    /** `target` includes its secrets; `progress` starts before the first log entry. */
    async subscribe(
      target: SubscriptionTarget,
      {
        secret = newSigningSecret(),
        signing = [{ secret }],
        ...given
      }: Partial<DeviceSubscription> & {
        readonly secret?: string
        readonly signing?: readonly SigningSecret[]
      } = {},
    ): Promise<DeviceSubscription> {
      const stopping = new AbortController()
      const feeds = openFeeds({
        eventLog,
        factLog: store.factLog,
        store,
        stopping: stopping.signal,
        logger: { debug() {}, warn() {}, error() {} },
      })
      const source = given.source ?? 'facts'
      const mark = await feeds[source].markAt('start')
      stopping.abort()
      const id = randomUUID()
      const subscription: DeviceSubscription = {
        id,
        accountId,
        createdAt: clock.time,
        changedAt: clock.time,
        revision: 1,
        name: 'Test',
        source,
        everySeconds: 0,
        target: publicTarget(target),
        sealed: secrets.seal(JSON.stringify({ target, signing }), id),
        progress: newProgress(mark),
        ...given,
      }
      await store.createSubscription(subscription)
      return subscription
    },

    /** Creates admins of the account; returns their ids. */
    async addOperators(emails: readonly string[]): Promise<string[]> {
      const operators = emails.map((email) => ({
        id: randomUUID(),
        accountId,
        email,
        role: 'admin' as const,
        platform: false,
        passwordHash: '',
        createdAt: clock.time,
      }))
      const [first, ...rest] = operators
      const account = { id: accountId, name: 'Test', suspended: false, createdAt: clock.time }
      if (first !== undefined) await store.createAccount(account, first)
      for (const operator of rest) await store.createOperator(operator)
      return operators.map(({ id }) => id)
    },

    /** Updates a subscription without a failure, as `PATCH` does. */
    async replaceTarget(id: string, target: SubscriptionTarget): Promise<void> {
      const changed = await store.changeSubscription({ accountId, id }, (before) => ({
        ...before,
        changedAt: before.changedAt + 1,
        revision: before.revision + 1,
        target: publicTarget(target),
        sealed: secrets.seal(JSON.stringify({ target, signing: [] }), id),
      }))
      if (changed === undefined || changed === 'refused') throw new Error('not changed')
    },

    /** Changes the progress as an operator's call does. */
    async command(id: string, change: (progress: SubscriptionProgress) => SubscriptionProgress) {
      const changed = await store.changeSubscription({ accountId, id }, (before) => ({
        ...before,
        changedAt: before.changedAt + 1,
        progress: change(before.progress),
      }))
      if (changed === undefined || changed === 'refused') throw new Error('not changed')
    },

    async appendFacts(count: number, changes: Partial<DeviceFact> = {}): Promise<string[]> {
      const { deviceId = 'van-1', at = clock.time, accountId: account = accountId } = changes
      const facts = Array.from({ length: count }, () => {
        sequence += 1
        const random = Buffer.alloc(10)
        random.writeUInt32BE(sequence, 6)
        return {
          type: 'device.online',
          previous: null,
          inside: [],
          deviceId,
          accountId: account,
          id: ulid(at, random),
          sequence,
          at,
          decidedAt: clock.time,
          ...changes,
        } as DeviceFact
      })
      const state = { sequence: 0, applied: {}, due: null }
      const judge = (before: object | undefined) => ({ state: { ...state, ...before }, facts })
      await store.judgeFacts({ devices: [{ accountId: account, deviceId, judge }] })
      return facts.map(({ id }) => id)
    },

    async appendPositions(count: number, changes: Partial<PositionReported> = {}) {
      const events = Array.from({ length: count }, () => positionReported(changes))
      await eventLog.append(events)
      const [first, ...rest] = events.map((event) => suite.append(event))
      if (first !== undefined) await store.project(batchOf(first, ...rest))
      return events
    },

    async erase(deviceId: string): Promise<void> {
      const erasure = deviceErased({ accountId, deviceId, erasedAt: clock.time })
      await store.hideErased(erasure)
      await eventLog.erase(erasure)
      const entry = suite.erase(erasure) as ErasureEntry
      await store.eraseFacts(entry)
      await store.project(batchOf(entry))
    },
  }
}

export type Deliveries = Awaited<ReturnType<typeof startDeliveries>>
