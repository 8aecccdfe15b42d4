import { measureAgainst } from './against.ts'
import { startServers, type Servers } from './candidates/servers.ts'
import { fillAndRead, measureReads } from './reads.ts'
import type { PartName, Options } from './options.ts'
import type { Order } from './order.ts'
import { measured, type MeasuredPart, type Part } from './part.ts'
import { measurePlaces, namePlaces } from './places.ts'
import { measureFacts, projectWithFacts } from './projector/facts.ts'
import { measureProjector, projectInRounds } from './projector/measure.ts'
import { measureReadable } from './readable.ts'
import { measureSenders } from './senders.ts'
import { measureSoak } from './soak/soak.ts'
import { measureSubmit } from './submit.ts'
import { deliverAll, measureWebhooks } from './webhooks.ts'

type Table = {
  readonly parts: readonly PartName[]
  readonly measure: (order: Order) => Promise<Part>
}

const TABLES: readonly Table[] = [
  { parts: ['embedded', 'kafka'], measure: measureSubmit },
  { parts: ['senders'], measure: measureSenders },
  { parts: ['readable'], measure: measureReadable },
  { parts: ['sqlite', 'mongodb'], measure: measureProjector },
  { parts: ['places'], measure: measurePlaces },
  { parts: ['facts'], measure: measureFacts },
  { parts: ['webhooks-embedded', 'webhooks-kafka'], measure: measureWebhooks },
  { parts: ['reads'], measure: measureReads },
  {
    parts: ['console'],
    // Loads the driver of the browser, which no other part needs.
    measure: async (order) => (await import('./console/measure.ts')).measureConsole(order),
  },
  { parts: ['soak'], measure: measureSoak },
  { parts: ['against'], measure: measureAgainst },
]

/** The work of parts that runs in a process of its own. */
export const JOBS = {
  namePlaces,
  projectInRounds,
  projectWithFacts,
  deliverAll,
  fillAndRead,
} as const

/** An order to the main program as a child process. */
export type JobOrder = { readonly job: keyof typeof JOBS; readonly order: object }

/** Measures the chosen parts, one after the other, and runs the servers that they need. */
export async function runParts(
  options: Options,
  tools: Pick<Order, 'adapters' | 'progress'>,
): Promise<MeasuredPart[]> {
  let starting: Promise<Servers> | undefined
  const servers = () => {
    if (starting === undefined) {
      tools.progress('starting Kafka, a schema registry and a MongoDB server')
    }
    return (starting ??= startServers())
  }
  const done: MeasuredPart[] = []
  try {
    for (const { parts, measure } of TABLES) {
      if (!parts.some((part) => options.parts.has(part))) continue
      done.push(measured(await measure({ ...options, ...tools, servers }), options.rounds))
    }
    return done
  } finally {
    await (await starting)?.stop()
  }
}
