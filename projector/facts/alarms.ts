import type { AlarmState, FactState } from '../../schemas/facts/fact-state.ts'
import { alarmKey, alarmNames } from '../../schemas/report/alarm-names.ts'
import { trueAt } from '../../schemas/geo/position-order.ts'
import {
  keepState,
  type Decision,
  type FactInput,
  type HeartbeatInput,
  type Judged,
  type PositionInput,
} from './decider.ts'

/**
 * Reports of one alarm that follow each other within this time form one run, and cause one fact.
 */
const RUN_MS = 5 * 60 * 1_000

/**
 * Alarms remembered per device, as many as one report may have: trackers have few alarms, but
 * anything may be sent as one.
 */
const MOST_RUNS = 16

const NONE: AlarmState = { onTime: {}, late: {} }

/** A repeat never causes an alarm. */
export function judgeAlarms(state: FactState, input: FactInput): Judged {
  if (input.kind === 'time' || (input.kind === 'position' && input.isRepeat)) {
    return keepState(state)
  }
  const names = alarmNames(attributesOf(input)?.['alarm'])
  if (names.size === 0) return keepState(state)
  const late = input.kind === 'position' && input.isLate
  const at = input.kind === 'position' ? trueAt(input.position) : input.receivedAt
  const position = input.kind === 'position' && { position: input.position }
  const { alarms = NONE } = state
  const before = late ? alarms.late : alarms.onTime
  const decisions: Decision[] = []
  for (const [key, alarm] of names) {
    if (isSameRun(before[key] ?? before[alarm], at)) continue
    decisions.push({ type: 'alarm.reported', at, alarm, late, ...position })
  }
  // Positions that are on time have ascending times.
  const endedBefore = input.kind === 'position' && !late ? at - RUN_MS : -Infinity
  const after = updateRuns(before, names, { at, endedBefore })
  return {
    state: { ...state, alarms: late ? { ...alarms, late: after } : { ...alarms, onTime: after } },
    decisions,
  }
}

function attributesOf(input: PositionInput | HeartbeatInput) {
  return input.kind === 'position' ? input.position.attributes : input.attributes
}

function isSameRun(reportedAt: number | undefined, at: number): boolean {
  return reportedAt !== undefined && Math.abs(at - reportedAt) <= RUN_MS
}

/**
 * The runs after a report. A run last reported before `endedBefore` can no longer continue. A
 * heartbeat ends no run, because positions recorded before it may still arrive.
 */
function updateRuns(
  runs: Readonly<Record<string, number>>,
  reported: ReadonlyMap<string, string>,
  { at, endedBefore }: { at: number; endedBefore: number },
): Readonly<Record<string, number>> {
  const open: [key: string, reportedAt: number][] = []
  for (const key of Object.keys(runs)) {
    const reportedAt = runs[key]
    if (reportedAt === undefined || reportedAt < endedBefore) continue
    if (!reported.has(alarmKey(key))) open.push([key, reportedAt])
  }
  for (const key of reported.keys()) open.push([key, at])
  return Object.fromEntries(open.slice(-MOST_RUNS))
}
