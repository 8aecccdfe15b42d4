import { judgeEntries, judgeTime, type JudgedEntry } from '../../../projector/facts/judge.ts'
import type { DeviceRule } from '../../../schemas/definitions/device-rule.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { Geofence } from '../../../schemas/definitions/geofence.ts'
import type { JudgedDevice } from '../../../store/facts.ts'
import { positionReported, T0 } from '../../samples.ts'
import { at, definitions, geofence, rule } from './judging.ts'

/**
 * Plain reports of one device with equal decisions: some of their facts differ only in sequence.
 */
export type DecisionsAlike = {
  readonly name: string
  readonly judge: (
    device: { readonly accountId: string; readonly deviceId: string },
    state: FactState | undefined,
  ) => JudgedDevice
}

const yard = (confirmSeconds: number) => geofence({ confirmSeconds })

/** Seconds after T0 and metres from the middle of the yard. */
type Reported = readonly [seconds: number, north: number, speed?: number]

function reports(
  name: string,
  { of, by, until = 0 }: { of: readonly Reported[]; by: Definitions; until?: number },
): DecisionsAlike {
  const entries = of.map(([seconds, north, speed], n): JudgedEntry => {
    const { latitude, longitude } = at(seconds, { north }).position
    const time = T0 + seconds * 1_000
    const fields = { timestamp: time, receivedAt: time, ...(speed !== undefined && { speed }) }
    const event = positionReported({ latitude, longitude, ...fields })
    return { kind: 'position', origin: { partition: 0, offset: n }, event }
  })
  return { name, judge: judgedBy(entries, by, until) }
}

type Definitions = { geofences?: readonly Geofence[]; rules: readonly DeviceRule[] }

function judgedBy(
  entries: readonly JudgedEntry[],
  by: Definitions,
  until: number,
): DecisionsAlike['judge'] {
  return (device, before) => {
    const judging = { ...device, definitions: definitions(by), hearing: { since: 0, graceMs: 0 } }
    const judged = judgeEntries(before, entries, { ...judging, decidedAt: T0 })
    const time = T0 + until * 1_000
    const passed = judgeTime(judged.state, time, { ...judging, decidedAt: T0 })
    return { state: passed.state, facts: [...judged.facts, ...passed.facts] }
  }
}

function fastIn(place: Geofence): Definitions {
  const when = { field: 'speed', above: 10 } as const
  return { geofences: [place], rules: [rule({ when, geofenceIds: [place.id] })] }
}

function silentIn(place: Geofence): Definitions {
  const when = { silent: true } as const
  return { geofences: [place], rules: [rule({ when, forSeconds: 10, geofenceIds: [place.id] })] }
}

const fix = positionReported({ timestamp: T0, receivedAt: T0 })

export const DECISIONS_ALIKE: readonly DecisionsAlike[] = [
  reports('a rule that ends twice with one report, whose side is confirmed later', {
    of: [
      [0, 1_000],
      [10, 0],
      [50, 0, 12],
      [60, 260, 3],
      [70, 270, 12],
      [100, 500],
    ],
    by: fastIn(yard(30)),
  }),
  {
    name: 'one fix sent four times in a request, with an alternating battery',
    judge: judgedBy(
      [0.1, 0.9, 0.1, 0.9].map((battery, n): JudgedEntry => ({
        kind: n === 0 ? 'position' : 'repeat',
        origin: { partition: 0, offset: n },
        event: { ...fix, battery },
      })),
      { rules: [rule({ when: { field: 'battery', below: 0.2 } })] },
      0,
    ),
  },
  reports('a silence in a geofence whose side is confirmed meanwhile', {
    of: [
      [0, 1_000],
      [10, 0],
      [80, 0],
      [200, 500],
    ],
    by: silentIn(yard(60)),
    until: 300,
  }),
]
