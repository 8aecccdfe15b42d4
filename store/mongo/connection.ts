import { MongoClient, type Db, type MongoClientOptions } from 'mongodb'

const DEFAULT_DATABASE = 'gps'

/**
 * A client that connects on first use. Writes are acknowledged by a majority and journaled, and
 * reads see only majority-committed data: nothing read is ever rolled back, so the projector can
 * commit an offset based on it. `options` may ask for less.
 * @throws when the URL is not a MongoDB connection string.
 */
export function openClient(url: string, options: MongoClientOptions = {}): MongoClient {
  return new MongoClient(url, {
    appName: 'gps-position-ingestion',
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
    ignoreUndefined: true,
    promoteBuffers: true,
    maxPoolSize: 20,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    waitQueueTimeoutMS: 3_000,
    socketTimeoutMS: 10_000,
    ...options,
  })
}

/** The database that the URL names, by default `gps` (the driver's own default is `test`). */
export function databaseOf(client: MongoClient, url: string): Db {
  const names = /^mongodb(?:\+srv)?:\/\/[^/]+\/[^?]/.test(url)
  return names ? client.db() : client.db(DEFAULT_DATABASE)
}
