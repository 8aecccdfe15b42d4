export const SERVICES = ['ingest-api', 'projector', 'admin-api', 'deliverer'] as const
export type ServiceName = (typeof SERVICES)[number]

export type SpoolDepth = {
  readonly events: number
  readonly bytes: number
  /** Age of the oldest event; 0 if the spool is empty. */
  readonly oldestSeconds: number
}

/** An instance reports its state every 10 s; after 30 s without a report it counts as ended. */
export type InstanceReport = {
  /** New at every start. */
  readonly instanceId: string
  readonly service: ServiceName
  readonly version: string
  readonly host: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reportedAt: number
  /** Ingest API: reports accepted and rejected in the last 60 s. */
  readonly acceptedPerMinute?: number
  readonly refusedPerMinute?: number
  /** Ingest API: since when it has been able to append; absent while it is unable. */
  readonly readySince?: number
  /** For an ingest API with a spool: the events waiting there. */
  readonly spool?: SpoolDepth & {
    /** Stored in the spool's folder, so that the spool is recognised after a restart. */
    readonly id?: string
  }
  /** Projector: the lag of the current read models, and the number of dead letters. */
  readonly lag?: { readonly events: number; readonly seconds: number }
  readonly deadLetters?: number
  /** Projector: the age of the oldest event from which facts are not decided yet. */
  readonly factsLagSeconds?: number
  /** Projector: the number of devices that it could not judge in their last attempt. */
  readonly failingDevices?: number
  /** For the projector: how long it has been unable to find devices offline; 0 if it is able. */
  readonly silenceHeldSeconds?: number
}

export const INSTANCE_GONE_MS = 30_000
