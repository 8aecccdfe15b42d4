import { expect, test } from '@jest/globals'
import type { ApiFact } from '../../../console/core/device-facts.ts'
import { foldVisits, pairVisits, type Visit } from '../../../console/core/visits.ts'

const at = (minute: number) => new Date(minute * 60_000).toISOString()
const yard = { id: 'yard', name: 'Yard', revision: 1 }
const port = { id: 'port', name: 'Port', revision: 1 }

function fact(type: ApiFact['type'], minute: number, more: Partial<ApiFact> = {}): ApiFact {
  const own = {
    id: String(minute),
    sequence: 1,
    deviceId: 'van',
    inside: [],
    decidedAt: at(minute),
  }
  return { ...own, type, at: at(minute), ...more }
}

test('visits have a start and an end, and the last one is open', () => {
  const facts = [
    fact('geofence.entered', 60, { geofence: yard }),
    fact('device.offline', 50),
    fact('geofence.left', 40, { geofence: yard, enteredAt: at(10) }),
    fact('geofence.entered', 10, { geofence: yard }),
  ]
  expect(pairVisits(facts)).toEqual([
    { geofenceId: 'yard', name: 'Yard', from: 600_000, to: 2_400_000 },
    { geofenceId: 'yard', name: 'Yard', from: 3_600_000, to: undefined },
  ])
})

test('a visit may start before the range, at an unknown time, or within another', () => {
  const facts = [
    fact('geofence.left', 90, { geofence: yard, enteredAt: null }),
    fact('geofence.left', 40, { geofence: port, enteredAt: at(-500) }),
  ]
  expect(pairVisits(facts)).toEqual([
    { geofenceId: 'port', name: 'Port', from: -30_000_000, to: 2_400_000 },
    { geofenceId: 'yard', name: 'Yard', from: undefined, to: 5_400_000 },
  ])
})

test('a visit is merged into the stop that it overlaps longest; without a stop it stays separate', () => {
  const [morning, trip, noon] = [
    { kind: 'stop', from: 0, to: 100 },
    { kind: 'trip', from: 100, to: 200 },
    { kind: 'stop', from: 200, to: 300 },
  ] as const
  const visit = (from: number | undefined, to: number | undefined): Visit => {
    return { geofenceId: 'yard', name: 'Yard', from, to }
  }
  const visits = [visit(undefined, 90), visit(80, 290), visit(120, 160), visit(295, undefined)]
  const { at, others } = foldVisits([morning, trip, noon], visits)
  expect(at.get(morning)).toEqual([visits[0]])
  expect(at.get(noon)).toEqual([visits[1], visits[3]])
  expect(others).toEqual([visits[2]])
})

test('a visit that spans the whole stop at its geofence is omitted', () => {
  const stop = { kind: 'stop', from: 0, to: 600_000, place: { geofenceId: 'yard' } }
  const visit = (to: number, geofenceId = 'yard') => ({
    geofenceId,
    name: 'Yard',
    from: 10_000,
    to,
  })
  const [same, longer, around] = [visit(590_000), visit(700_000), visit(590_000, 'port')]
  const { at, others } = foldVisits([stop], [same, longer, around])
  expect([at.get(stop), others]).toEqual([[longer, around], []])
  // It ends with its stop, after the days shown.
  const open = { ...stop, open: 'after' } as const
  expect(foldVisits([open], [{ ...same, to: undefined }]).at.get(open)).toBeUndefined()
  expect(foldVisits([stop], [{ ...same, to: undefined }]).at.get(stop)).toHaveLength(1)
})
