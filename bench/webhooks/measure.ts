import { forkTypescript, inOwnProcess } from '../fork.ts'
import type { Part, Row } from '../part.ts'
import type { BenchProgress } from '../progress.ts'
import type { ReceiverOrder } from './receiver.ts'

export type WebhooksOrder = {
  readonly url: string
  readonly positions: number
  readonly batch: number
  /** Absent: the embedded log and store. */
  readonly kafka?: {
    readonly brokers: readonly string[]
    readonly topicPrefix: string
    readonly mongodbUrl: string
  }
}

/** How long it took to deliver all positions, and to read them as a consumer of the log. */
export type WebhooksRound = {
  readonly deliveringSeconds: number
  readonly cpuMicros: number
  readonly consumingSeconds: number
}

/** Sends a full log through one webhook, beside a consumer group that reads the same log. */
export async function measureWebhooks(
  orders: readonly Omit<WebhooksOrder, 'url'>[],
  progress: BenchProgress,
): Promise<Part> {
  const rows: Row[] = []
  const faults: string[] = []
  for (const order of orders) {
    const log = order.kafka === undefined ? 'embedded' : 'Kafka'
    progress(`webhooks: ${order.positions} positions, ${log}`)
    const receiver = forkTypescript('webhooks/receiver.ts')
    const ask = <Answer>(what: ReceiverOrder) => receiver.ask<Answer>(what)
    try {
      const url = await ask<string>('listen')
      const measured = await inOwnProcess<WebhooksRound>(
        'webhooks/main.ts',
        { ...order, url },
        progress,
      )
      const received = await ask<number>('count')
      if (received !== order.positions) {
        faults.push(`${log}: ${received} of ${order.positions} positions were received`)
      }
      const perSecond = order.positions / measured.deliveringSeconds
      rows.push({
        log,
        batch: String(order.batch),
        positions: String(order.positions),
        'positions/s': perSecond,
        'CPU µs/position': measured.cpuMicros,
        'as a consumer': order.positions / measured.consumingSeconds,
        '÷ consumer': (perSecond * measured.consumingSeconds) / order.positions,
      })
    } finally {
      await receiver.stop()
    }
  }
  return { title: 'Sending all positions through one webhook', rows, faults }
}
