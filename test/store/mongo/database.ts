import { randomBytes } from 'node:crypto'
import { test } from '@jest/globals'
import { MongoClient, type Db } from 'mongodb'
import { pino } from 'pino'
import { openMongoStore } from '../../../store/mongo/mongo-store.ts'
import type { Store } from '../../../store/store.ts'
import { LogOfOneSuite, newAccountId } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { flakyProxy, type FlakyProxy, type Mode } from './flaky-proxy.ts'

export type OpenOptions = Partial<Parameters<typeof openMongoStore>[0]>

/** A separate database on a running server, and stores on it. */
export type TestDatabase = {
  readonly url: string
  /** For direct access behind the store. */
  readonly db: Db
  readonly open: (options?: OpenOptions) => Promise<Store>
  /** A store that reaches the server through a proxy. */
  readonly openBehindProxy: (
    mode?: Mode,
  ) => Promise<{ readonly store: Store; readonly proxy: FlakyProxy }>
  /** Closes every store and proxy, removes the database. */
  drop(): Promise<void>
}

let made = 0

/** The connection string of another database on the same server. */
export function urlOfDatabase(url: string, database: string): string {
  return url.replace(/^([^:]+:\/\/[^/?]+)\/?[^?]*/, `$1/${database}`)
}

/** `name` keeps suites apart, a number the databases of one suite. */
export function testDatabase({ url, database }: { url: string; database: string }): TestDatabase {
  made += 1
  const own = `${database}-${made}-${randomBytes(3).toString('hex')}`
  const ownUrl = urlOfDatabase(url, own)
  const client = new MongoClient(ownUrl)
  const stores: Store[] = []
  const proxies: FlakyProxy[] = []
  return { url: ownUrl, db: client.db(), open, openBehindProxy, drop }

  async function open(options: OpenOptions = {}) {
    const clock = { now: () => T0 }
    const store = await openMongoStore({ url: ownUrl, logger: silent, clock, ...options })
    stores.push(store)
    return store
  }

  async function openBehindProxy(mode: Mode = 'pass') {
    const proxy = await flakyProxy(ownUrl)
    proxies.push(proxy)
    await proxy.become(mode)
    return { store: await open({ url: proxy.url }), proxy }
  }

  async function drop() {
    for (const store of stores) await store.close()
    for (const proxy of proxies) await proxy.close()
    await client.db().dropDatabase()
    await client.close()
  }
}

/** The fixture of each test: a separate database, and an account and a log for what is stored in it. */
export type OnADatabase = TestDatabase & { readonly accountId: string; readonly log: LogOfOneSuite }

export function mongoSuite(service: Parameters<typeof testDatabase>[0]): {
  readonly promise: (sentence: string, check: (given: OnADatabase) => Promise<void>) => void
} {
  return {
    promise(sentence, check) {
      test(sentence, async () => {
        const database = testDatabase(service)
        try {
          await check({ ...database, accountId: newAccountId(), log: new LogOfOneSuite() })
        } finally {
          await database.drop()
        }
      })
    },
  }
}

export const silent = pino({ level: 'silent' })
