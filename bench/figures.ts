import type { CandidateName } from './candidates/candidate.ts'
import type { ProjectorRow } from './projector/measure.ts'
import type { Parts } from './measured.ts'
import type { SenderRow } from './senders/measure.ts'
import type { ShapeName } from './submit/measure.ts'
import type { SubmitRow } from './submit/summary.ts'

/** A figure with the bounds that it is to keep. */
export type Figure = {
  readonly name: string
  /** Absent: not measured. */
  readonly value?: number
  readonly unit: '' | 'ms' | 'MB' | 'kB' | '%'
  readonly must: number
  readonly wanted: number
  readonly verdict: 'as wanted' | 'good enough' | 'MISSED' | 'not measured' | 'void'
}

type Bounds = {
  readonly name: string
  readonly unit?: Figure['unit']
  readonly must: number
  readonly wanted: number
  /** The larger the better; otherwise the smaller. */
  readonly large?: true
  readonly part: keyof Parts
  readonly read: (parts: Parts) => number | undefined
}

const row = (parts: Parts, candidate: CandidateName, shape: ShapeName): SubmitRow | undefined =>
  parts.submit?.rows.find((one) => one.candidate === candidate && one.shape === shape)

const ratio = (candidate: CandidateName, shape: ShapeName) => (parts: Parts) =>
  row(parts, candidate, shape)?.ratio

const projectorRatio = (store: ProjectorRow['store']) => (parts: Parts) =>
  parts.projector?.rows.find((one) => one.store === store)?.ratio

const senderRatio = (sender: SenderRow['sender']) => (parts: Parts) =>
  parts.senders?.rows.find((one) => one.sender === sender)?.ratio

function lastPositionGrowth({ growth }: Parts): number | undefined {
  const among = (count: number) =>
    growth?.stores.find(({ devices }) => devices === count)?.lastPositionMicros
  const [few, many] = [among(1e3), among(1e6)]
  return few === undefined || many === undefined ? undefined : many / few
}

/** Of the newest page and of one in the middle, the one that grows more. */
function historyGrowth({ history }: Parts): number | undefined {
  const at = (count: number) => history?.rows.find(({ records }) => records === count)
  const [few, many] = [at(1e5), at(1e7)]
  if (few === undefined || many === undefined) return undefined
  return Math.max(many.pageMicros / few.pageMicros, many.newestPageMicros / few.newestPageMicros)
}

const FORMATS = ['Kafka, JSON', 'Kafka, Avro'] as const

const BOUNDS: readonly Bounds[] = [
  {
    name: 'embedded, whole process, single submits, 64 connections ÷ bare',
    ...{ part: 'submit', must: 4.5, wanted: 3.2, read: ratio('embedded', '64 connections') },
  },
  ...FORMATS.map((format): Bounds => ({
    name: `ingest API on ${format}, single submits, 64 connections ÷ bare`,
    ...{ part: 'submit', must: 4.5, wanted: 3, read: ratio(format, '64 connections') },
  })),
  {
    name: 'embedded, batches of 100, per report ÷ bare request',
    ...{ part: 'submit', must: 1.8, wanted: 1.2, read: ratio('embedded', 'batches of 100') },
  },
  ...FORMATS.map((format): Bounds => ({
    name: `ingest API on ${format}, batches of 100, per report ÷ bare request`,
    ...{ part: 'submit', must: 1, wanted: 0.6, read: ratio(format, 'batches of 100') },
  })),
  {
    name: 'a report of OsmAnd ÷ a native one',
    ...{ part: 'senders', must: 1.3, wanted: 1.1, read: senderRatio('OsmAnd') },
  },
  {
    name: 'a batch of 1000 of Overland ÷ a native one, per report',
    ...{ part: 'senders', must: 1.3, wanted: 1.1, read: senderRatio('Overland') },
  },
  ...(['SQLite', 'MongoDB'] as const).map((store): Bounds => ({
    name: `projector into ${store} ÷ bare driver loop`,
    ...{ part: 'projector', must: 0.7, wanted: 0.9, large: true, read: projectorRatio(store) },
  })),
  {
    name: 'last position of one device among 10^6 ÷ among 10^3',
    ...{ part: 'growth', must: 2, wanted: 1.3, read: lastPositionGrowth },
  },
  {
    name: 'history page at 10^7 records ÷ at 10^5',
    ...{ part: 'history', must: 2, wanted: 1.3, read: historyGrowth },
  },
  {
    name: 'resident memory of the ingest API on Kafka after 10^6 devices',
    ...{ part: 'growth', unit: 'MB', must: 300, wanted: 200 },
    read: ({ growth }) =>
      growth?.services.find(
        ({ candidate, devices }) => candidate === 'Kafka, JSON' && devices === 1e6,
      )?.residentMB,
  },
  {
    name: '200 → readable, p99, 200 reports/s evenly spread',
    ...{ part: 'readable', unit: 'ms', must: 50, wanted: 20 },
    read: ({ readable }) => readable?.latency.p99,
  },
]

/** The figures that can be told from what was measured, each with its verdict. */
export function figures(parts: Parts): Figure[] {
  return BOUNDS.map(({ read, part, large, unit = '', ...bounds }) => {
    const value = read(parts)
    const figure = { ...bounds, unit, ...(value !== undefined && { value }) }
    return { ...figure, verdict: verdict(figure, { large, faults: parts[part]?.faults ?? [] }) }
  })
}

export function verdict(
  { value, must, wanted }: Pick<Figure, 'value' | 'must' | 'wanted'>,
  { large, faults }: { large?: true | undefined; faults: readonly string[] },
): Figure['verdict'] {
  if (value === undefined) return 'not measured'
  if (faults.length > 0) return 'void'
  const keeps = (bound: number) => (large ? value >= bound : value <= bound)
  if (keeps(wanted)) return 'as wanted'
  return keeps(must) ? 'good enough' : 'MISSED'
}
