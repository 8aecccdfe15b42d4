import { expect } from '@jest/globals'
import type { AttributeValue } from '../../schemas/report/report-fields.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { adminReader, type FactView, type PositionView } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import { expectedFacts } from '../model/facts-model.ts'
import { positionReported } from '../samples.ts'
import { devicesOf, type Load, type Sent } from './load.ts'

/**
 * Waits until the facts of the stored reports match the model: each once, numbered without gaps.
 * The model does not know the order of the log, so it ignores whether an alarm was late.
 */
export async function expectFactsOfModel(
  service: { adminUrl: string; key: string },
  { sent }: Pick<Load, 'sent'>,
  { withinMs = 60_000 }: { withinMs?: number } = {},
): Promise<readonly FactView[]> {
  const api = adminReader(service)
  const alarms = new Map(sent.map((report) => [identity(report), report.attributes?.['alarm']]))
  const all: FactView[] = []
  for (const deviceId of devicesOf({ sent })) {
    const facts = await eventually(
      async () => {
        const positions = await api.positionsIfAny(deviceId)
        const found = await api.facts(deviceId)
        expect(found.map(({ sequence }) => sequence)).toEqual(found.map((_, n) => n + 1))
        expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
        const decided = found.map(({ type, at, alarm = '' }) => told(type, Date.parse(at), alarm))
        expect(decided.sort()).toEqual(expected(positions, alarms))
        return found
      },
      { withinMs, everyMs: 500 },
    )
    all.push(...facts)
  }
  return all
}

function expected(
  positions: readonly PositionView[],
  alarms: ReadonlyMap<string, AttributeValue | undefined>,
): string[] {
  const entries = [...positions]
    .sort((one, other) => (one.receivedAt < other.receivedAt ? -1 : 1))
    .map((position, offset): ProjectionEntry => {
      const alarm = alarms.get(identity(position))
      const times = {
        timestamp: Date.parse(position.timestamp),
        receivedAt: Date.parse(position.receivedAt),
      }
      const { recordId, deviceId } = position
      const attributes = alarm !== undefined && { attributes: { alarm } }
      const event = positionReported({ recordId, deviceId, ...times, ...attributes })
      return { kind: 'position', origin: { partition: 0, offset }, event }
    })
  return expectedFacts(entries, 0)
    .map(([, , type, at, detail]) =>
      told(type, at, type === 'alarm.reported' ? (detail.split(' ')[0] ?? '') : ''),
    )
    .sort()
}

function told(type: string, at: number, alarm: string): string {
  return `${type} ${at} ${alarm}`
}

function identity({ deviceId, latitude, longitude, timestamp }: Sent): string {
  return [deviceId, latitude, longitude, timestamp].join(' ')
}
