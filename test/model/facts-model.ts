import type { ProjectionEntry } from '../../store/read-models.ts'

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

/** Operators disable a device, or enable it again. */
export type Switch = {
  readonly kind: 'switch'
  readonly at: number
  readonly deviceId: string
  readonly enabled: boolean
  /** Until then, the projector had let time pass. */
  readonly passed: number
}

/** A deadline falls where it depends on the machine whether it or the change of the settings comes first. */
export class Ambiguous extends Error {}

type Device = {
  isDisabled?: boolean
  /** It counts as heard then, also if a report received before is judged later. */
  enabledAt: number
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
 * The facts that these entries must give until `end`, one entry after the other, with no batches, stores or crashes:
 * every device is offline after an hour.
 */
export function expectedFacts(
  entries: readonly (ProjectionEntry | Switch)[],
  end: number,
): ExpectedFact[] {
  const devices = new Map<string, Device>()
  for (const entry of entries) {
    if (entry.kind === 'switch') {
      const device = devices.get(entry.deviceId) ?? fresh(-Infinity)
      devices.set(entry.deviceId, device)
      changeSettings(entry, device)
      continue
    }
    const { deviceId } = entry.event
    const known = devices.get(deviceId)
    if (entry.kind === 'erasure') {
      const { isDisabled = false, enabledAt = -Infinity } = known ?? {}
      devices.set(deviceId, { ...fresh(entry.event.erasedAt), isDisabled, enabledAt })
      continue
    }
    if (entry.kind === 'position' && entry.event.imported === true) {
      known?.records.add(entry.event.recordId)
      continue
    }
    const device = known ?? fresh(-Infinity)
    devices.set(deviceId, device)
    const { receivedAt } = entry.event
    if (entry.spooled === true && receivedAt <= device.erasedAt) continue
    if (entry.kind === 'seen' && device.seenAt === undefined) continue
    silence(deviceId, device, receivedAt)
    reportAlarms(deviceId, device, entry)
    sign(deviceId, device, receivedAt)
  }
  for (const [deviceId, device] of devices) silence(deviceId, device, end)
  return [...devices.values()].flatMap(({ facts }) => facts)
}

function fresh(erasedAt: number): Device {
  return { enabledAt: -Infinity, records: new Set(), runs: new Map(), erasedAt, facts: [] }
}

function tell(deviceId: string, device: Device, type: string, at: number, detail = ''): void {
  device.facts.push([deviceId, device.facts.length + 1, type, at, detail])
}

function silence(deviceId: string, device: Device, now: number): void {
  const { offlineAt, isDisabled = false } = device
  const deadline = deadlineOf(device)
  if (deadline === undefined || offlineAt !== undefined || isDisabled) return
  if (deadline > now) return
  device.offlineAt = deadline
  tell(deviceId, device, 'device.offline', deadline)
}

function deadlineOf({ heardAt, enabledAt }: Device): number | undefined {
  return heardAt === undefined ? undefined : Math.max(heardAt, enabledAt) + HOUR
}

function changeSettings({ at, deviceId, enabled, passed }: Switch, device: Device): void {
  if ((device.isDisabled ?? false) === !enabled) return
  const deadline = deadlineOf(device) ?? Infinity
  if (!enabled && device.offlineAt === undefined && deadline > passed && deadline <= at) {
    throw new Ambiguous()
  }
  silence(deviceId, device, passed)
  device.isDisabled = !enabled
  if (enabled) device.enabledAt = at
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

function reportAlarms(
  deviceId: string,
  device: Device,
  entry: Exclude<ProjectionEntry, { kind: 'erasure' }>,
): void {
  const { event } = entry
  let at = event.receivedAt
  let late = false
  if ('recordId' in event) {
    if (device.records.has(event.recordId)) return
    device.records.add(event.recordId)
    at = Math.min(event.timestamp, event.receivedAt)
    const place = [at, event.receivedAt, entry.origin.offset] as const
    late = device.last !== undefined && !isAfter(place, device.last)
    if (!late) device.last = place
  }
  const alarm = event.attributes?.['alarm']
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
