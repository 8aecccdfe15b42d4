export const SERVICES = ['ingest-api', 'projector', 'admin-api'] as const
export type ServiceName = (typeof SERVICES)[number]

/** What a running service says of itself every 10 s; an instance that has not for 30 s is gone. */
export type InstanceReport = {
  /** Of this run of the service; a new one after every start. */
  readonly instanceId: string
  readonly service: ServiceName
  readonly version: string
  readonly host: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reportedAt: number
  /** Ingest API: positions of the last 60 s that were accepted, and reports that were refused. */
  readonly acceptedPerMinute?: number
  readonly refusedPerMinute?: number
  /** Projector: how far the read models in use are behind the log, and the dead letters it keeps. */
  readonly lag?: { readonly events: number; readonly seconds: number }
  readonly deadLetters?: number
}

export const INSTANCE_GONE_MS = 30_000
