import type { DeviceFact, FactDetails } from '../../schemas/facts/facts.ts'
import { positionReported, T0 } from '../samples.ts'

const GEOFENCE = {
  id: 'geofence-1',
  name: 'Yard "north"',
  revision: 3,
  externalId: 'depot-4',
  properties: { colour: 'žlutá' },
}
const RULE = { id: 'rule-1', name: 'Freezer is warm', revision: 2 }

const DETAILS: readonly FactDetails[] = [
  { type: 'device.online', previous: null },
  { type: 'device.online', previous: 'offline' },
  { type: 'device.offline' },
  { type: 'geofence.entered', geofence: GEOFENCE },
  { type: 'geofence.left', geofence: GEOFENCE, enteredAt: T0 - 1_830_000, seconds: 1_830 },
  { type: 'geofence.left', geofence: GEOFENCE, enteredAt: null, seconds: null },
  { type: 'rule.raised', rule: RULE, value: -3.5 },
  { type: 'rule.raised', rule: RULE },
  { type: 'rule.cleared', rule: RULE, value: 'open', raisedAt: T0 - 60_000, seconds: 60 },
  { type: 'alarm.reported', alarm: 'sos', late: true },
]

/** A fact of each type, with and without optional fields. */
export function factsOfAllTypes(changes: { accountId?: string; deviceId?: string } = {}) {
  return DETAILS.map((details, index): DeviceFact => {
    const { accountId = 'acc-1', deviceId = 'tracker-1' } = changes
    const { recordId, latitude, longitude, timestamp, receivedAt } = positionReported()
    const position = { recordId, latitude, longitude, timestamp, receivedAt, battery: 0.5 }
    return {
      ...details,
      id: `01KDVN9C05${String(index).padStart(16, '0')}`,
      sequence: index + 1,
      accountId,
      deviceId,
      at: T0 + index,
      decidedAt: T0 + 1_000 + index,
      ...(details.type !== 'device.offline' && {
        position: { ...position, attributes: { alarm: 'sos' } },
      }),
      inside: index % 2 === 0 ? [] : ['geofence-1'],
      ...(details.type === 'alarm.reported' && { suppressed: 3 }),
    }
  })
}
