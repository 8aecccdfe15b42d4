import {
  ageTo,
  hearTelemetry,
  isLater,
  moveTo,
  newDevice,
  rename,
  type ApiDevice,
  type ApiPosition,
  type ApiRecord,
  type LiveDevice,
} from './live-device.ts'

/** The maximum number of devices: beyond it the latest are shown, and the page says so. */
export const MOST_DEVICES = 100_000

/**
 * The current state of all devices, from a list and from a stream that was opened before it: the
 * later information wins, so nothing is missed and nothing goes back.
 */
export class Fleet {
  readonly devices = new Map<string, LiveDevice>()
  /** Counts stream events, to distinguish them from events before or after a list. */
  #step = 0
  readonly #erased = new Map<string, number>()

  /** Applies a position from the stream; it may come twice, and late. */
  position({ deviceId, ...position }: ApiRecord, now: number): void {
    const device = this.#seen(deviceId, position)
    hear(device, Date.parse(position.receivedAt), now)
    if (isRepeat(position, device.position)) {
      const { receivedAt, battery, attributes } = position
      if (battery === undefined && attributes === undefined) return
      const told = { ...(battery !== undefined && { battery }), ...(attributes && { attributes }) }
      hearTelemetry(device, { receivedAt, ...told })
    } else if (isLater(position, device.position)) moveTo(device, position, { isNext: true })
  }

  /** Applies a status from the stream. */
  status(told: ApiDevice, now: number): void {
    const device = this.#seen(told.deviceId, told.lastPosition)
    device.settingsAt = this.#step
    settle(device, told)
    hear(device, Date.parse(told.lastSeenAt), now)
    locate(device, told)
  }

  erased(deviceId: string): void {
    this.#step += 1
    this.devices.delete(deviceId)
    this.#erased.set(deviceId, this.#step)
  }

  /** Begins a list; stream events from here on are newer than it. */
  list(): FleetList {
    const begun = this.#step
    const listed = new Set<string>()
    return {
      page: (items, now) => {
        for (const item of items) {
          listed.add(item.deviceId)
          if ((this.#erased.get(item.deviceId) ?? -1) > begun) continue
          const device = this.#get(item.deviceId, item.lastPosition)
          if (device.settingsAt <= begun) settle(device, item)
          hear(device, Date.parse(item.lastSeenAt), now)
          locate(device, item)
        }
      },
      end: () => {
        for (const [deviceId, { toldAt }] of this.devices) {
          if (!listed.has(deviceId) && toldAt <= begun) this.devices.delete(deviceId)
        }
        this.#erased.clear()
      },
    }
  }

  /** Drops the devices that reported least recently if there are more than `most`. */
  trim(most: number): void {
    if (this.devices.size <= most) return
    const latest = [...this.devices.values()].sort((a, b) => b.lastSeenMs - a.lastSeenMs)
    for (const { deviceId } of latest.slice(most)) this.devices.delete(deviceId)
  }

  /** Statuses change with time alone. */
  age(now: number): void {
    for (const device of this.devices.values()) ageTo(device, now)
  }

  #seen(deviceId: string, position: ApiPosition): LiveDevice {
    this.#step += 1
    this.#erased.delete(deviceId)
    const device = this.#get(deviceId, position)
    device.toldAt = this.#step
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

function settle(device: LiveDevice, told: ApiDevice): void {
  if (device.name !== told.name) rename(device, told.name)
  device.labels = told.labels
  device.disabled = told.disabled
  device.expectedIntervalSeconds = told.expectedIntervalSeconds
  device.reportCount = told.reportCount
  device.firstSeenAt = told.firstSeenAt
}

/** The same record, sent again. */
function isRepeat(one: ApiPosition, other: ApiPosition): boolean {
  return one.recordId === other.recordId && one.receivedAt > other.receivedAt
}

function locate(device: LiveDevice, { lastPosition, telemetry }: ApiDevice): void {
  // The stream may have begun with a repeat; the record itself came earlier.
  if (isRepeat(device.position, lastPosition)) device.position = lastPosition
  else if (isLater(lastPosition, device.position)) moveTo(device, lastPosition, { isNext: false })
  hearTelemetry(device, telemetry)
}

function hear(device: LiveDevice, at: number, now: number): void {
  if (at > device.lastSeenMs) device.lastSeenMs = at
  ageTo(device, now)
}

type FleetList = {
  page(items: readonly ApiDevice[], now: number): void
  /**
   * The list has covered the latest devices, as many as are kept: a device that neither the list
   * nor, since it began, the stream has mentioned is gone, or no longer among the latest.
   */
  end(): void
}
