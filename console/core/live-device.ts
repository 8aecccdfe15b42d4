import { deviceSearchKey, type SearchKey } from '../../schemas/devices/device-search.ts'
import { comparePositionTimes, seenAt, trueAt } from '../../schemas/geo/position-order.ts'
import { livenessOf, type Liveness } from '../../schemas/devices/liveness.ts'
import type { components } from '../api/schema.ts'
import { toMercator } from '../../schemas/geo/mercator.ts'
import { advanceMotion, type Motion } from './motion.ts'

export type ApiDevice = components['schemas']['Device']
export type ApiPosition = components['schemas']['LastPosition']
export type ApiTelemetry = components['schemas']['Telemetry']
/** A record in the stream's form. */
export type ApiRecord = ApiPosition & { readonly deviceId: string }

/** The status displayed for a device: a disabled device is neither online nor offline. */
export type ShownStatus = Liveness | 'disabled'

export type ChangedSettings = Pick<LiveDevice, 'name' | 'labels' | 'disabled'> & {
  readonly expectedIntervalSeconds?: number | undefined
}

/** A device of the list and the map, updated in place: there are up to 100 000. */
export type LiveDevice = {
  readonly deviceId: string
  name: string | null
  labels: readonly string[]
  disabled: boolean
  expectedIntervalSeconds: number | undefined
  reportCount: number
  firstSeenAt: string
  lastSeenMs: number
  position: ApiPosition
  /** Battery and attributes newer than the position. */
  telemetry: ApiTelemetry | undefined
  motion: Motion
  status: ShownStatus
  /** The ids of the rules raised for it. */
  raised: readonly string[]
  /** The ids of the geofences that it is in. */
  inside: readonly string[]
  /**
   * The device's location on the map: Web Mercator, 0 to 1 from west to east and from north to
   * south.
   */
  x: number
  y: number
  searchKey: SearchKey
  /**
   * The stream steps (see `Fleet`) that last updated the device, and its settings; -1: not yet
   * updated.
   */
  updatedAtStep: number
  settingsAt: number
  /** The latest change made on this page, and its time by the server's clock. */
  changedHere: { readonly settings: Partial<ChangedSettings>; readonly at: number } | undefined
}

export function newDevice(deviceId: string, position: ApiPosition): LiveDevice {
  const heardAt = seenAt(position)
  return {
    deviceId,
    name: null,
    labels: [],
    disabled: false,
    expectedIntervalSeconds: undefined,
    reportCount: 1,
    firstSeenAt: heardAt,
    lastSeenMs: Date.parse(heardAt),
    position,
    telemetry: undefined,
    motion: advanceMotion(undefined, position, {
      atMs: Date.parse(trueAt(position)),
      isNext: false,
    }),
    status: 'online',
    raised: [],
    inside: [],
    ...toMercator(position.longitude, position.latitude),
    searchKey: deviceSearchKey(null, deviceId),
    updatedAtStep: -1,
    settingsAt: -1,
    changedHere: undefined,
  }
}

/** The name that an operator gave the device, or else its id. */
export function labelOf({ name, deviceId }: { name: string | null; deviceId: string }): string {
  return name ?? deviceId
}

export function rename(device: LiveDevice, name: string | null): void {
  device.name = name
  device.searchKey = deviceSearchKey(name, device.deviceId)
}

/** @param isNext whether no position is missing between this and the previous one. */
export function moveTo(
  device: LiveDevice,
  position: ApiPosition,
  { isNext }: { readonly isNext: boolean },
): void {
  device.position = position
  if (device.telemetry !== undefined && isReplaced(device.telemetry, position)) {
    device.telemetry = undefined
  }
  const atMs = Date.parse(trueAt(position))
  device.motion = advanceMotion(device.motion, position, { atMs, isNext })
  const { x, y } = toMercator(position.longitude, position.latitude)
  device.x = x
  device.y = y
}

/** Applies telemetry if it is newer than the current one. */
export function takeTelemetry(device: LiveDevice, telemetry: ApiTelemetry | undefined): void {
  if (telemetry === undefined || telemetry.receivedAt <= (device.telemetry?.receivedAt ?? ''))
    return
  if (!isReplaced(telemetry, device.position)) device.telemetry = telemetry
}

/** An imported position does not replace telemetry. */
function isReplaced({ receivedAt }: ApiTelemetry, position: ApiPosition): boolean {
  return position.imported !== true && receivedAt < position.receivedAt
}

/** The newest battery and attributes of a device, which belong together. */
export function newestTelemetry({
  position,
  telemetry,
}: {
  readonly position: ApiPosition
  readonly telemetry?: ApiTelemetry | undefined
}): Pick<ApiPosition, 'battery' | 'attributes'> {
  return telemetry ?? position
}

export function ageTo(device: LiveDevice, now: number): void {
  device.status = device.disabled
    ? 'disabled'
    : livenessOf(
        {
          lastSeenAt: device.lastSeenMs,
          expectedIntervalSeconds: device.expectedIntervalSeconds,
        },
        now,
      )
}

/**
 * Whether `a` comes after `b`, which the service sent earlier, in the order of last positions. The
 * service sends positions in log order.
 */
export function isLater(a: ApiPosition, b: ApiPosition): boolean {
  const byTime = comparePositionTimes(a, b)
  return byTime === 0 ? a.recordId !== b.recordId : byTime > 0
}
