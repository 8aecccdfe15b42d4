import type { ApiFact } from './device-facts.ts'
import {
  ageTo,
  takeTelemetry,
  isLater,
  moveTo,
  newDevice,
  rename,
  type ApiDevice,
  type ApiPosition,
  type ApiRecord,
  type ChangedSettings,
  type LiveDevice,
} from './live-device.ts'

/** Maximum number of devices: beyond it, only the latest are shown, and the page says so. */
export const MOST_DEVICES = 100_000

/** How old a status from the stream may be on arrival. */
const READ_BEFORE_MS = 10_000
/** There are more only while no list is being read. */
const MOST_FACTS = 5_000

/**
 * The current state of all devices, from a list and from a stream opened before it: the newer
 * information wins, so nothing is missed and nothing reverts.
 */
export class Fleet {
  readonly devices = new Map<string, LiveDevice>()
  /** Counts stream events, to distinguish them from events before or after a list. */
  #step = 0
  readonly #erased = new Map<string, number>()
  /** The newest known revision of each rule. */
  readonly #revisions = new Map<string, number>()
  /** The facts since the last list, which the next list may lack. */
  #facts: { readonly step: number; readonly fact: ApiFact }[] = []

  /** Applies a position from the stream, possibly repeated or late. */
  position({ deviceId, ...position }: ApiRecord, now: number): void {
    const device = this.#seen(deviceId, position)
    noteReceipt(device, Date.parse(position.receivedAt), now)
    if (isRepeat(position, device.position)) {
      const { receivedAt, battery, attributes } = position
      if (battery === undefined && attributes === undefined) return
      const telemetry = {
        ...(battery !== undefined && { battery }),
        ...(attributes && { attributes }),
      }
      takeTelemetry(device, { receivedAt, ...telemetry })
    } else if (isLater(position, device.position)) moveTo(device, position, { isNext: true })
  }

  /** Applies a status from the stream. */
  status(apiDevice: ApiDevice, now: number): void {
    const device = this.#seen(apiDevice.deviceId, apiDevice.lastPosition)
    device.settingsAt = this.#step
    applySettings(device, { ...apiDevice, ...recentChange(device, now) })
    noteReceipt(device, Date.parse(apiDevice.lastSeenAt), now)
    applyPosition(device, apiDevice)
  }

  /**
   * Applies settings changed on this page; a list or a status may have been read before the change.
   */
  changed(deviceId: string, settings: Partial<ChangedSettings>, now: number): void {
    const device = this.devices.get(deviceId)
    if (device === undefined) return
    this.#step += 1
    device.settingsAt = this.#step
    device.changedHere = { settings: { ...recentChange(device, now), ...settings }, at: now }
    applySettings(device, { ...device, ...settings })
    ageTo(device, now)
  }

  /**
   * Applies a fact about a device, which statuses from the stream do not include. The fact may be
   * older than the list, so it changes only what it is about.
   */
  fact(fact: ApiFact): void {
    this.#step += 1
    const { rule } = fact
    if (rule !== undefined && !this.rule(rule)) return
    this.#facts.push({ step: this.#step, fact })
    if (this.#facts.length > 2 * MOST_FACTS) this.#facts = this.#facts.slice(-MOST_FACTS)
    const device = this.devices.get(fact.deviceId)
    if (device !== undefined) applyFact(device, fact)
  }

  /**
   * After a rule has changed, it is raised for no device until facts say so. Returns whether this
   * is the newest known revision.
   */
  rule({ id, revision }: { readonly id: string; readonly revision: number }): boolean {
    const known = this.#revisions.get(id) ?? revision
    if (revision < known) return false
    this.#revisions.set(id, revision)
    if (revision === known) return true
    this.#facts = this.#facts.filter(({ fact }) => fact.rule?.id !== id)
    for (const device of this.devices.values()) {
      if (device.raised.includes(id)) device.raised = changed(device.raised, id, false)
    }
    return true
  }

  erased(deviceId: string): void {
    this.#step += 1
    this.devices.delete(deviceId)
    this.#erased.set(deviceId, this.#step)
  }

  /** Starts a list; stream events from here on are newer than the list. */
  list(): FleetList {
    const begun = this.#step
    const listed = new Set<string>()
    return {
      page: (items, now) => {
        for (const item of items) {
          listed.add(item.deviceId)
          if ((this.#erased.get(item.deviceId) ?? -1) > begun) continue
          const device = this.#get(item.deviceId, item.lastPosition)
          if (device.settingsAt <= begun) applySettings(device, item)
          this.#applyStandings(device, item, begun)
          noteReceipt(device, Date.parse(item.lastSeenAt), now)
          applyPosition(device, item)
        }
      },
      end: () => {
        for (const [deviceId, { updatedAtStep }] of this.devices) {
          if (!listed.has(deviceId) && updatedAtStep <= begun) this.devices.delete(deviceId)
        }
        this.#erased.clear()
        this.#facts = []
      },
    }
  }

  /** Drops the devices that reported least recently if there are more than `most`. */
  trim(most: number): void {
    if (this.devices.size <= most) return
    const latest = [...this.devices.values()].sort((a, b) => b.lastSeenMs - a.lastSeenMs)
    for (const { deviceId } of latest.slice(most)) this.devices.delete(deviceId)
  }

  /** Statuses also change just by the passing of time. */
  age(now: number): void {
    for (const device of this.devices.values()) ageTo(device, now)
  }

  /**
   * The stream's statuses lack standings, so a list may have newer standings of a device that the
   * stream has updated.
   */
  #applyStandings(device: LiveDevice, { inside, raised }: ApiDevice, begun: number): void {
    if (raised !== undefined) device.raised = raised.map(idOf)
    if (inside !== undefined) device.inside = inside.map(idOf)
    for (const { step, fact } of this.#facts) {
      if (step > begun && fact.deviceId === device.deviceId) applyFact(device, fact)
    }
  }

  #seen(deviceId: string, position: ApiPosition): LiveDevice {
    this.#step += 1
    this.#erased.delete(deviceId)
    const device = this.#get(deviceId, position)
    device.updatedAtStep = this.#step
    return device
  }

  #get(deviceId: string, position: ApiPosition): LiveDevice {
    let device = this.devices.get(deviceId)
    if (device === undefined) {
      device = newDevice(deviceId, position)
      this.devices.set(deviceId, device)
    }
    return device
  }
}

function recentChange({ changedHere }: LiveDevice, now: number): Partial<ChangedSettings> {
  if (changedHere === undefined || now - changedHere.at >= READ_BEFORE_MS) return {}
  return changedHere.settings
}

function applySettings(device: LiveDevice, apiDevice: ListedSettings): void {
  if (device.name !== apiDevice.name) rename(device, apiDevice.name)
  device.labels = apiDevice.labels
  device.disabled = apiDevice.disabled
  device.expectedIntervalSeconds = apiDevice.expectedIntervalSeconds
  device.reportCount = apiDevice.reportCount
  device.firstSeenAt = apiDevice.firstSeenAt
}

function applyFact(device: LiveDevice, { type, geofence, rule }: ApiFact): void {
  if (geofence) device.inside = changed(device.inside, geofence.id, type === 'geofence.entered')
  if (rule) device.raised = changed(device.raised, rule.id, type === 'rule.raised')
}

function changed(ids: readonly string[], id: string, isAdded: boolean): readonly string[] {
  const others = ids.filter((one) => one !== id)
  return isAdded ? [...others, id] : others
}

const idOf = (one: string | { readonly id: string }) => (typeof one === 'string' ? one : one.id)

/** Whether two positions are the same record, sent again. */
function isRepeat(one: ApiPosition, other: ApiPosition): boolean {
  return one.recordId === other.recordId && one.receivedAt > other.receivedAt
}

function applyPosition(device: LiveDevice, { lastPosition, telemetry }: ApiDevice): void {
  // The stream may start with a repeat; the record itself arrived earlier.
  if (isRepeat(device.position, lastPosition)) device.position = lastPosition
  else if (isLater(lastPosition, device.position)) moveTo(device, lastPosition, { isNext: false })
  takeTelemetry(device, telemetry)
}

function noteReceipt(device: LiveDevice, at: number, now: number): void {
  if (at > device.lastSeenMs) device.lastSeenMs = at
  ageTo(device, now)
}

type ListedSettings = ChangedSettings & Pick<LiveDevice, 'reportCount' | 'firstSeenAt'>

type FleetList = {
  page(items: readonly ApiDevice[], now: number): void
  /**
   * Removes devices that neither the list nor the stream has mentioned since the list started: they
   * no longer exist, or are no longer among the latest.
   */
  end(): void
}
