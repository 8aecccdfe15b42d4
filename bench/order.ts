import type { EventLog } from '../event-log/event-log.ts'
import type { FactLog } from '../event-log/fact-log.ts'
import type { Store } from '../store/store.ts'
import type { Servers } from './candidates/servers.ts'
import type { BenchProgress } from './fork.ts'
import type { Options } from './options.ts'

/** Opens logs and stores: embedded ones in a directory, those on Kafka and MongoDB by their address. */
export type Adapters = {
  readonly openLog: (directory: string) => EventLog
  readonly openStore: (directory: string) => Store & { readonly factLog: FactLog }
  /** Both, as the embedded service has them in one directory. */
  readonly openFiles: (directory: string) => { readonly eventLog: EventLog; readonly store: Store }
  readonly openTopics: (topics: Topics) => EventLog & { readonly facts: FactLog }
  readonly openDatabase: (url: string) => Promise<Store>
}

export type Topics = { readonly brokers: readonly string[]; readonly topicPrefix: string }

/** The options of a run, with the tools that its parts measure with. */
export type Order = Options & {
  readonly adapters: Adapters
  readonly progress: BenchProgress
  /** Starts them once, for all parts. */
  readonly servers: () => Promise<Servers>
}

/** The tools of a job, which runs in a process of its own. */
export type JobTools = Pick<Order, 'adapters' | 'progress'>
