import type { Parts } from '../measured.ts'
import type { Costs } from './capacity.ts'

/** The result lacks a part, or one that is void. */
export class NotMeasuredError extends Error {
  override readonly name = 'NotMeasuredError'
}

/** @throws {NotMeasuredError} naming the part of the bench to run. */
export function costsOf(
  { submit, projector }: Parts,
  bytes: Pick<Costs, 'eventBytes' | 'documentBytes'>,
): Costs {
  const perReport = (candidate: string, part: string) => {
    const row = submit?.rows.find(
      (one) => one.candidate === candidate && one.shape === '64 connections',
    )
    return measured(submit?.faults.length === 0 ? row?.cpuMicros : undefined, part)
  }
  const row = projector?.rows.find(({ store }) => store === 'MongoDB')
  return {
    embedded: perReport('embedded', 'embedded'),
    ingest: perReport('Kafka, JSON', 'kafka'),
    projector: measured(row?.cpuMicros, 'mongodb'),
    ...bytes,
  }
}

function measured(value: number | undefined, part: string): number {
  if (value !== undefined && value > 0) return value
  throw new NotMeasuredError(`the result has no figures of: npm run bench -- ${part}`)
}
