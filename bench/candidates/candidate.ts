/** A running service to measure. */
export type Candidate = {
  readonly name: CandidateName
  readonly url: string
  readonly key: string
  /** One of each account, `key` first, for more requests under way than one account may have. */
  readonly keys?: readonly string[]
  readonly pid: number
  /** Resolves when the process has done all the work left over after its answers. */
  settled(): Promise<void>
  /** The number of reports stored so far, among all that it has ever acknowledged. */
  stored(): Promise<number>
  stop(): Promise<void>
}

export type CandidateName = 'bare node:http' | 'embedded' | 'Kafka, JSON' | 'Kafka, Avro'

/** 64 connections of each, where there are 512. */
export const ACCOUNTS_SENDING = 8

/** Settings of a measured process: no rate limit ends a run, but every limit is still counted. */
export const UNHINDERED = { RATE_LIMIT_KEY: '999999999/60', RATE_LIMIT_DEVICE: '999999999/60' }
