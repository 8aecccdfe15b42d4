import { tellFaults } from '../../runtime/errors.ts'
import type { DeviceSeen } from '../../schemas/device-seen.ts'
import { deviceIdFaults } from '../../schemas/position-report.ts'
import { newUlid } from '../../schemas/record-id.ts'
import type { KeyGrant } from '../../store/back-office.ts'
import type { SubmittedHeartbeat, SubmittedReport } from './submitted-report.ts'
import type { Refused } from './outcome.ts'
import { deviceRefusal } from './reportable-devices.ts'

/** The event of a heartbeat, or its refusal. */
export function judgeHeartbeat(
  { seen: deviceId, battery, attributes }: SubmittedHeartbeat,
  grant: KeyGrant,
  receivedAt: number,
): DeviceSeen | Refused {
  const faults = deviceIdFaults(deviceId)
  if (faults.length > 0) return { error: 'INVALID_PARAMS', ...tellFaults(faults), retriable: false }
  const { accountId, id: keyId } = grant.key
  return (
    deviceRefusal(grant, deviceId) ?? {
      eventId: newUlid(receivedAt),
      accountId,
      deviceId,
      keyId,
      receivedAt,
      ...(battery !== undefined && { battery }),
      ...(attributes !== undefined && { attributes }),
    }
  )
}

/**
 * Drops all but one heartbeat of each device, the last with telemetry if any has it. Returns the remaining reports,
 * and for each submitted report its place among them. Undefined if all are needed.
 */
export function withoutRepeats(
  submitted: readonly SubmittedReport[],
):
  { readonly reports: readonly SubmittedReport[]; readonly places: readonly number[] } | undefined {
  const reports: SubmittedReport[] = []
  const heartbeats = new Map<unknown, number>()
  const places = submitted.map((report) => {
    const known = 'seen' in report ? heartbeats.get(report.seen) : undefined
    if (known !== undefined) {
      if ('seen' in report && hasTelemetry(report)) reports[known] = report
      return known
    }
    if ('seen' in report) heartbeats.set(report.seen, reports.length)
    return reports.push(report) - 1
  })
  return reports.length === submitted.length ? undefined : { reports, places }
}

function hasTelemetry({ battery, attributes }: SubmittedHeartbeat): boolean {
  return battery !== undefined || attributes !== undefined
}
