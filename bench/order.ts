import type { EventLog } from '../event-log/event-log.ts'
import type { Store } from '../store/store.ts'
import type { Servers } from './candidates/servers.ts'
import type { Options } from './options.ts'

/** Opens logs and stores: embedded ones in a directory, those on Kafka and MongoDB by address. */
export type Adapters = {
  readonly openLog: (directory: string) => EventLog
  readonly openStore: (directory: string) => Store
  /** Both, in one directory as in the embedded service. */
  readonly openFiles: (directory: string) => { readonly eventLog: EventLog; readonly store: Store }
  readonly openTopics: (topics: Topics) => EventLog
  readonly openDatabase: (url: string) => Promise<Store>
}

export type Topics = { readonly brokers: readonly string[]; readonly topicPrefix: string }

/** The options of a run, with the tools that its parts measure with. */
export type Order = Options & {
  readonly adapters: Adapters
  /** Starts them once, for all parts. */
  readonly servers: () => Promise<Servers>
}
