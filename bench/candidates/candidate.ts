/** A running service to measure. */
export type Candidate = {
  readonly name: 'bare node:http' | 'embedded' | 'Kafka, JSON' | 'Kafka, Avro'
  readonly url: string
  readonly key: string
  readonly pid: number
  /** Resolves when the process has finished all work remaining after its responses. */
  settled?(): Promise<void>
  /** The number of reports stored so far, out of all it has ever acknowledged. */
  stored?(): Promise<number>
  stop(): Promise<void>
}

/** Settings of a measured process: no rate limit ends a run, but every limit is still counted. */
export const UNHINDERED = { RATE_LIMIT_KEY: '999999999/60', RATE_LIMIT_DEVICE: '999999999/60' }
