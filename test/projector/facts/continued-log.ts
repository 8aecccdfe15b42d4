import { expect } from '@jest/globals'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { KILLED_AT, logOf030 } from '../../fixtures/version-0.3.0/data-of-0.3.0.ts'
import { startJudging } from '../../model/judging.ts'
import { positionReported } from '../../samples.ts'

const accountId = 'default'
const T0 = Date.UTC(2026, 0, 1)
const DEGREE_METRES = 111_195.08

/** The log of version 0.3.0, continued on its store. `between` runs between batches. */
export function continueLog(
  store: Store,
  {
    publish,
    between = async () => undefined,
  }: {
    readonly publish?: (facts: readonly DeviceFact[]) => void
    readonly between?: () => Promise<void>
  } = {},
) {
  const clock = { time: KILLED_AT, now: () => clock.time }
  const log = logOf030()
  const topic = publish && {
    append: async (facts: readonly DeviceFact[]) => publish(facts),
    erase: async () => undefined,
  }
  const judging = startJudging(store, log, { clock, topic })

  function report(deviceId: string, north: number, more: Partial<PositionReported> = {}): void {
    const event = positionReported({
      accountId,
      deviceId,
      latitude: 45.27 + north / DEGREE_METRES,
      longitude: 13.7,
      timestamp: clock.time,
      receivedAt: clock.time,
      ...more,
    })
    log.push({ kind: 'position', origin: { partition: 0, offset: log.length }, event })
  }

  return {
    ...judging,
    log: log as readonly ProjectionEntry[],

    /**
     * Every device reports a minute after the kill, then stays silent for more than an hour;
     * 'truck' does not move.
     */
    async goOn(): Promise<void> {
      // Read again from before the last batches of the old process.
      await judging.project({ back: 6 })
      await between()
      clock.time += 60_000
      report('new', 2, { attributes: { alarm: 'sos' } })
      report('truck', 50_001)
      report('van', 20, { speed: 3, battery: 0.9 })
      report('tug', -7_000)
      await judging.project()
      await between()
      clock.time += 660_000
      await judging.sweep()
      await between()
      clock.time += 3_600_000
      for (const deviceId of ['truck', 'van', 'new', 'due', 'gone', 'tug']) report(deviceId, 9_000)
      await judging.project()
      await between()
    },
  }
}

/** The facts that `goOn` must decide, each once: device, sequence, type, seconds after T0, name. */
const DECIDED = [
  'due 9 geofence.left 4261 Yard',
  'due 10 rule.raised 6061 Silent',
  'due 11 device.offline 7861 ',
  'due 12 rule.cleared 8581 Silent',
  'due 13 device.online 8581 ',
  'gone 5 rule.raised 5340 Silent',
  'gone 6 device.offline 7140 ',
  'gone 7 rule.cleared 8581 Silent',
  'gone 8 rule.cleared 8581 Parked',
  'gone 9 device.online 8581 ',
  'new 6 rule.cleared 4561 Too fast',
  'new 7 rule.raised 4321 Parked',
  'new 8 geofence.entered 4261 Yard',
  'new 9 rule.raised 5161 Long at the depot',
  'new 10 rule.raised 6121 Silent',
  'new 11 device.offline 7921 ',
  'new 12 rule.cleared 8581 Silent',
  'new 13 geofence.left 8581 Depot',
  'new 14 rule.cleared 8581 Parked',
  'new 15 rule.cleared 8581 Long at the depot',
  'new 16 device.online 8581 ',
  'quiet 2 rule.raised 1860 Silent',
  'quiet 3 device.offline 3600 ',
  'truck 6 rule.raised 6121 Silent',
  'truck 7 device.offline 7921 ',
  'truck 8 rule.cleared 8581 Silent',
  'truck 129 rule.cleared 8581 Parked',
  'truck 130 device.online 8581 ',
  'tug 5 rule.cleared 4321 Parked',
  'tug 6 rule.raised 6121 Silent',
  'tug 7 device.offline 7921 ',
  'tug 8 rule.cleared 8581 Silent',
  'tug 9 device.online 8581 ',
  'van 13 rule.cleared 4321 Too fast',
  'van 14 rule.cleared 4321 Battery',
  'van 15 rule.raised 6121 Silent',
  'van 16 device.offline 7921 ',
  'van 17 rule.cleared 8581 Silent',
  'van 18 geofence.left 8581 Depot',
  'van 19 geofence.left 8581 Night quay',
  'van 20 rule.cleared 8581 Parked',
  'van 21 rule.cleared 8581 Long at the depot',
  'van 22 device.online 8581 ',
]

/** After `goOn`: the old facts are unchanged, followed by the new ones. */
export async function expectWentOn(store: Store, old: readonly DeviceFact[]): Promise<void> {
  const facts = await factsIn(store)
  const ids = new Set(facts.map(({ id }) => id))
  expect(ids.size).toBe(facts.length)
  expect(facts.filter(({ id }) => old.some((fact) => fact.id === id))).toEqual(inOrder(old))
  const sequences = new Map<string, number>()
  for (const { deviceId, sequence } of facts) {
    expect([deviceId, sequence]).toEqual([deviceId, (sequences.get(deviceId) ?? 0) + 1])
    sequences.set(deviceId, sequence)
  }
  const decided = facts.filter(({ id }) => !old.some((fact) => fact.id === id))
  const zones = decided.filter(isAboutZone)
  expect(decided.filter((fact) => !isAboutZone(fact)).map(told)).toEqual(DECIDED)
  // More geofences than now count for a device: it leaves each once when it drives away.
  expect(new Set(zones.map(nameOf)).size).toBe(120)
  expect(zones).toHaveLength(120)
  for (const fact of zones) {
    expect(fact).toMatchObject({ type: 'geofence.left', deviceId: 'truck', enteredAt: null })
    expect((fact.at - T0) / 1_000).toBe(8_581)
  }
  for (const { definitionId, name } of await definitionsIn(store)) {
    const devices = await store.devicesWith({ accountId, definitionId, limit: 99 })
    if (name.startsWith('Zone ')) expect(devices).toEqual([])
  }
}

/** The mark, the items set aside and to resend, the failure. */
export async function expectSubscriptions(store: Store): Promise<void> {
  const [subscription] = await store.pageSubscriptions({ accountId, limit: 9 })
  expect(subscription).toMatchObject({
    name: 'ERP',
    labels: ['night'],
    progress: {
      mark: 'mark-of-0.3.0',
      failingSince: T0 + 1_140_000,
      lastError: 'HTTP 422',
      setAside: [{ status: 422 }, { status: 400 }],
      resend: ['01KDVER390000000000000004S'],
    },
  })
}

/** The devices in each geofence and those for which each rule is raised, by name. */
export async function holdingIn(store: Store): Promise<Readonly<Record<string, string>>> {
  const holding: Record<string, string> = {}
  for (const { definitionId, name } of await definitionsIn(store)) {
    const devices = await store.devicesWith({ accountId, definitionId, limit: 99 })
    holding[name] = devices
      .map(({ deviceId, since }) => `${deviceId} ${since === null ? '?' : (since - T0) / 1_000}`)
      .join(', ')
  }
  return holding
}

/** The old process's state, derived from its facts. */
export function holdingOf(old: readonly DeviceFact[]): Readonly<Record<string, string>> {
  const holding = new Map<string, Map<string, number>>()
  for (const fact of inOrder(old)) {
    if (!fact.type.startsWith('geofence.') && !fact.type.startsWith('rule.')) continue
    const devices = holding.get(nameOf(fact)) ?? new Map<string, number>()
    holding.set(nameOf(fact), devices)
    if (/entered|raised/.test(fact.type)) devices.set(fact.deviceId, (fact.at - T0) / 1_000)
    else devices.delete(fact.deviceId)
  }
  const zones = Array.from({ length: 120 }, (_, n) => [`Zone ${n}`, 'truck ?'] as const)
  const others = [...holding].map(
    ([name, devices]) =>
      [name, [...devices].map(([deviceId, since]) => `${deviceId} ${since}`).join(', ')] as const,
  )
  return Object.fromEntries([...zones, ['Fast in the yard', ''], ...others])
}

export async function factsIn(store: Store): Promise<readonly DeviceFact[]> {
  return inOrder(await store.pageFacts({ accountId, limit: 1_000 }))
}

export function inOrder(facts: readonly DeviceFact[]): readonly DeviceFact[] {
  return [...facts].sort((a, b) =>
    a.deviceId === b.deviceId ? a.sequence - b.sequence : a.deviceId < b.deviceId ? -1 : 1,
  )
}

async function definitionsIn(store: Store) {
  const geofences = await store.pageGeofences({ accountId, limit: 1_000 })
  const rules = await store.pageRules({ accountId, limit: 1_000 })
  return [...geofences, ...rules].map(({ id, name }) => ({ definitionId: id, name }))
}

function isAboutZone(fact: DeviceFact): boolean {
  return nameOf(fact).startsWith('Zone ')
}

function nameOf(fact: DeviceFact): string {
  if ('geofence' in fact) return fact.geofence.name
  if ('rule' in fact) return fact.rule.name
  return 'alarm' in fact ? fact.alarm : ''
}

function told(fact: DeviceFact): string {
  const { deviceId, sequence, type, at } = fact
  return `${deviceId} ${sequence} ${type} ${(at - T0) / 1_000} ${nameOf(fact)}`
}
