import type { KafkaMessage } from 'kafkajs'
import { utf8 } from '../../schemas/event-fields.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REPORT_REJECTED,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { RejectionLog } from '../event-log.ts'
import type { KafkaClient, Logger } from './connection.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import { cloudEventHeaders } from './event-format.ts'
import { beGroupMember, type Chunk } from './group-member.ts'
import { readAnew } from './read-anew.ts'
import { untilTaken } from './until-taken.ts'

/** Limits the queue: a flood of refused reports must not fill the memory. */
export const REJECTION_BOUNDS = { maxItems: 1000, maxBytes: 4 * 1024 * 1024 } as const

/**
 * The Kafka record of a rejection.
 * @throws {UndecodableEventError} when it could not be read back.
 */
export function toRejectionMessage(event: ReportRejected) {
  const { rejectionId, accountId, keyId, receivedAt } = event
  return {
    key: `${accountId}/${keyId}`,
    value: encodeReportRejected(event),
    time: receivedAt,
    headers: {
      ...cloudEventHeaders({ id: rejectionId, type: REPORT_REJECTED, time: receivedAt }),
      'content-type': 'application/json',
    },
  } satisfies LogMessage
}

/**
 * Delivers the topic to one member of the group until `signal` is aborted. Starts over whenever
 * kafkajs gives up: refused reports must not end a process that also projects positions.
 */
export async function subscribeRejections({
  newClient,
  groupId,
  topic,
  onBatch,
  signal,
  onAnew,
  logger,
}: {
  newClient: () => KafkaClient
  groupId: string
  topic: string
  onBatch: Parameters<RejectionLog['subscribeRejections']>[0]['onBatch']
  signal: AbortSignal
  onAnew: () => void
  logger: Logger
}): Promise<void> {
  await readAnew({
    ...{ groupId, signal, logger, onAnew },
    givenUpAfterMs: Infinity,
    read: () =>
      beGroupMember({
        client: newClient(),
        groupId,
        topic,
        commit: true,
        startOf: () => undefined,
        deal,
        signal,
        logger,
      }),
  })

  async function deal(chunk: Chunk): Promise<boolean> {
    // Read once, so that each skipped event is logged once, however often the rest is retried.
    const events = chunk.messages.flatMap((message) => readable(message, chunk.partition))
    if (events.length === 0) return true
    return untilTaken(chunk, { groupId, signal, logger }, () => onBatch(events))
  }

  function readable({ value, offset }: KafkaMessage, partition: number): ReportRejected[] {
    try {
      return [decodeReportRejected(utf8(value, 'value'))]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ partition, offset: Number(offset), reason }, 'rejection left out')
      return []
    }
  }
}
