import type { ProjectionEntry } from '../../store/read-models.ts'
import {
  changedSides,
  endOfVisit,
  redefined,
  visit,
  type Redefinition,
  type Fix,
  type Told,
  type Visits,
  type Yard,
} from './visits-model.ts'

const HOUR = 3_600_000
const RUN = 300_000

/** The content that a fact must have, apart from its id. */
export type ExpectedFact = readonly [
  device: string,
  sequence: number,
  type: string,
  at: number,
  detail: string,
]

/** Operators disable or enable a device, or suspend or reinstate the account of all devices. */
export type Switch = {
  readonly kind: 'switch'
  readonly at: number
  readonly deviceId?: string
  readonly enabled: boolean
  /** The projector had let time pass until then. */
  readonly passed: number
}

export type Story = readonly (ProjectionEntry | Switch | Redefinition)[]

const NO_YARD: Yard = { north: 0, radius: 0, confirmSeconds: 0, enabled: false }

/** Positions are on a line to the north of here. */
export const SOUTH = 45.27
export const DEGREE_METRES = 111_195.08

/** A deadline so close to a change of settings that their order depends on the machine. */
export class Ambiguous extends Error {}

type Device = {
  isDisabled?: boolean
  isSuspended?: boolean
  /** Its silence restarts then, even if an earlier report is judged later. */
  enabledAt: number
  visits: Visits
  heardAt?: number
  seenAt?: number
  offlineAt?: number
  last?: readonly [at: number, receivedAt: number, offset: number]
  lastRecord?: string
  records: Set<string>
  runs: Map<string, number>
  erasedAt: number
  facts: ExpectedFact[]
}

/**
 * The facts that these entries must produce until `end`, entry by entry, without batches, stores or
 * crashes. Devices go offline after an hour; the geofence existed before.
 */
export function expectedFacts(story: Story, end: number, first = NO_YARD): ExpectedFact[] {
  const devices = new Map<string, Device>()
  let [yard, since] = [first, -Infinity]
  let [isSuspended, resumedAt] = [false, -Infinity]
  const deviceOf = (deviceId: string) => {
    const device = devices.get(deviceId) ?? {
      ...fresh(-Infinity),
      isSuspended,
      enabledAt: resumedAt,
    }
    devices.set(deviceId, device)
    return device
  }
  for (const entry of story) {
    if (entry.kind === 'redefinition') {
      if (isSame(entry.yard, yard)) continue
      for (const [deviceId, device] of devices) redefine(deviceId, device, yard, entry)
      yard = entry.yard
      since = entry.at
      continue
    }
    if (entry.kind === 'switch') {
      const { deviceId } = entry
      if (deviceId === undefined) {
        if (isSuspended && entry.enabled) resumedAt = entry.at
        isSuspended = !entry.enabled
      }
      const own = deviceId === undefined ? devices : [[deviceId, deviceOf(deviceId)] as const]
      for (const [id, device] of own) changeSettings(entry, id, device, yard)
      continue
    }
    const { deviceId } = entry.event
    if (entry.kind === 'erasure') {
      const { isDisabled = false, enabledAt, erasedAt: before } = deviceOf(deviceId)
      const kept = { isDisabled, isSuspended, enabledAt }
      // The clocks of two processes may differ: facts covered by either erasure are withdrawn.
      const erasedAt = Math.max(before, entry.event.erasedAt)
      devices.set(deviceId, { ...fresh(erasedAt), ...kept })
      continue
    }
    if (entry.kind === 'position' && entry.event.imported === true) {
      devices.get(deviceId)?.records.add(entry.event.recordId)
      continue
    }
    const device = deviceOf(deviceId)
    const { receivedAt } = entry.event
    if (entry.spooled === true && receivedAt <= device.erasedAt) continue
    if (entry.kind === 'seen' && device.seenAt === undefined) continue
    letPass(deviceId, device, receivedAt, yard)
    const news = newsOf(device, entry)
    if (news !== undefined) {
      reportAlarms(deviceId, device, { ...news, alarm: entry.event.attributes?.['alarm'] })
    }
    if (news?.fix !== undefined) {
      const [visits, told] = visit(device.visits, news.fix, yard, since)
      device.visits = visits
      for (const one of told) tellVisit(deviceId, device, one)
    }
    sign(deviceId, device, receivedAt)
  }
  for (const [deviceId, device] of devices) letPass(deviceId, device, end, yard)
  return [...devices.values()].flatMap(({ facts }) => facts)
}

function fresh(erasedAt: number): Device {
  return {
    enabledAt: -Infinity,
    visits: {},
    records: new Set(),
    runs: new Map(),
    erasedAt,
    facts: [],
  }
}

function tell(deviceId: string, device: Device, type: string, at: number, detail = ''): void {
  device.facts.push([deviceId, device.facts.length + 1, type, at, detail])
}

function tellVisit(deviceId: string, device: Device, told: Told): void {
  const { type, at } = told
  if (type === 'geofence.entered') return tell(deviceId, device, type, at)
  const { enteredAt } = told
  const seconds = enteredAt === null ? null : Math.max(0, at - enteredAt) / 1_000
  tell(deviceId, device, type, at, `${enteredAt} ${seconds}`)
}

/** Waits end, and the device goes offline, in the order of these times. */
function letPass(deviceId: string, device: Device, now: number, yard: Yard): void {
  const silentAt = offlineAt(device) ?? Infinity
  const visitAt = endOfVisit(device.visits, yard) ?? Infinity
  if (Math.min(silentAt, visitAt) > now) return
  if (silentAt < visitAt) {
    device.offlineAt = silentAt
    tell(deviceId, device, 'device.offline', silentAt)
  } else {
    const [visits, told] = changedSides(device.visits)
    device.visits = visits
    tellVisit(deviceId, device, told)
  }
  letPass(deviceId, device, now, yard)
}

/** When the device goes offline if it stays silent. */
function offlineAt(device: Device): number | undefined {
  const { heardAt, enabledAt } = device
  if (device.offlineAt !== undefined || !isWatched(device) || heardAt === undefined)
    return undefined
  return Math.max(heardAt, enabledAt) + HOUR
}

function isWatched({ isDisabled = false, isSuspended = false }: Device): boolean {
  return !isDisabled && !isSuspended
}

/** If both are due, their order is undecided: the projector has not looked yet. */
function mustNotBeDue(deadline: number | undefined, { passed, at }: Switch | Redefinition): void {
  if (deadline !== undefined && deadline > passed && deadline <= at) throw new Ambiguous()
}

function changeSettings(change: Switch, deviceId: string, device: Device, yard: Yard): void {
  const { at, enabled, passed } = change
  const switched =
    change.deviceId === undefined ? { isSuspended: !enabled } : { isDisabled: !enabled }
  const next = { ...device, ...switched }
  const { isDisabled = false, isSuspended = false } = device
  if ((next.isDisabled ?? false) === isDisabled && (next.isSuspended ?? false) === isSuspended) {
    return
  }
  if (!enabled) mustNotBeDue(offlineAt(device), change)
  letPass(deviceId, device, passed, yard)
  Object.assign(device, switched)
  if (enabled) device.enabledAt = at
}

function redefine(deviceId: string, device: Device, before: Yard, change: Redefinition): void {
  mustNotBeDue(endOfVisit(device.visits, before), change)
  letPass(deviceId, device, change.passed, before)
  const visits = redefined(device.visits, change.yard)
  if (visits === undefined) throw new Ambiguous()
  device.visits = visits
}

function isSame(one: Yard, other: Yard): boolean {
  return (Object.keys(one) as (keyof Yard)[]).every((field) => one[field] === other[field])
}

function sign(deviceId: string, device: Device, receivedAt: number): void {
  if (device.seenAt === undefined) tell(deviceId, device, 'device.online', receivedAt, 'null')
  else if (device.offlineAt !== undefined && receivedAt >= device.offlineAt) {
    tell(deviceId, device, 'device.online', receivedAt, 'offline')
    delete device.offlineAt
  }
  device.seenAt = Math.max(device.seenAt ?? 0, receivedAt)
  device.heardAt = Math.max(device.heardAt ?? 0, receivedAt)
}

/** An entry's content besides a sign of life; undefined if it repeats a record. */
function newsOf(
  device: Device,
  { event, origin }: Exclude<ProjectionEntry, { kind: 'erasure' }>,
): { readonly at: number; readonly late: boolean; readonly fix?: Fix } | undefined {
  const { receivedAt } = event
  if (!('recordId' in event)) return { at: receivedAt, late: false }
  if (device.records.has(event.recordId)) return undefined
  device.records.add(event.recordId)
  const at = Math.min(event.timestamp, receivedAt)
  const place = [at, receivedAt, origin.offset] as const
  if (device.last !== undefined && !isAfter(place, device.last)) return { at, late: true }
  device.last = place
  return {
    at,
    late: false,
    fix: { at, receivedAt, north: (event.latitude - SOUTH) * DEGREE_METRES },
  }
}

function reportAlarms(
  deviceId: string,
  device: Device,
  { at, late, alarm }: { readonly at: number; readonly late: boolean; readonly alarm: unknown },
): void {
  if (typeof alarm !== 'string') return
  for (const name of new Set(alarm.split(','))) {
    const run = `${late} ${name}`
    const before = device.runs.get(run)
    if (before === undefined || Math.abs(at - before) > RUN) {
      tell(deviceId, device, 'alarm.reported', at, `${name} ${late}`)
    }
    device.runs.set(run, at)
  }
}

function isAfter(a: readonly number[], b: readonly number[]): boolean {
  const n = a.findIndex((value, index) => value !== b[index])
  return n !== -1 && a[n]! > b[n]!
}
