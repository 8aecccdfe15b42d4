import { randomBytes } from 'node:crypto'
import { MongoClient, type Db } from 'mongodb'
import { pino } from 'pino'
import { openMongoStore } from '../../../store/mongo/mongo-store.ts'
import type { Store } from '../../../store/store.ts'
import { T0 } from '../../samples.ts'

export type OpenOptions = Partial<Parameters<typeof openMongoStore>[0]>

/** A separate database on a running server, and stores on it. */
export type TestDatabase = {
  readonly url: string
  /** For a look behind the store. */
  readonly db: Db
  open(options?: OpenOptions): Promise<Store>
  /** Closes every store, removes the database. */
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
  return {
    url: ownUrl,
    db: client.db(),
    async open(options = {}) {
      const store = await openMongoStore({
        url: ownUrl,
        logger: silent,
        clock: { now: () => T0 },
        ...options,
      })
      stores.push(store)
      return store
    },
    async drop() {
      for (const store of stores) await store.close()
      await client.db().dropDatabase()
      await client.close()
    },
  }
}

/** Runs one test on a separate database. */
export async function withDatabase(
  service: Parameters<typeof testDatabase>[0],
  use: (database: TestDatabase) => Promise<void>,
): Promise<void> {
  const database = testDatabase(service)
  try {
    await use(database)
  } finally {
    await database.drop()
  }
}

export const silent = pino({ level: 'silent' })
