import type { AlarmState } from '../../schemas/fact-state.ts'
import { alarmKey, alarmNames } from '../../schemas/alarm-names.ts'
import { trueAt } from '../../schemas/geo/position-order.ts'
import type { Attributes } from '../../schemas/report-fields.ts'
import type { Decision, FactInput, PartJudgement } from './part.ts'

/** Reports of one alarm that follow each other within this time are one run, and one fact. */
const RUN_MS = 5 * 60 * 1_000

/** Kept of a device, as many as one report may have: trackers have few alarms, but anything may be sent as one. */
const MOST_RUNS = 16

const NONE: AlarmState = { onTime: {}, late: {} }

/** A repeat never causes an alarm. */
export function judgeAlarms(
  state: AlarmState | undefined,
  input: FactInput,
): PartJudgement<AlarmState | undefined> {
  const names =
    input.kind === 'time' || (input.kind === 'position' && input.isRepeat) ? [] : alarmsIn(input)
  if (input.kind === 'time' || names.length === 0) return { state, decisions: [], due: null }
  const late = input.kind === 'position' && input.isLate
  const at = input.kind === 'position' ? trueAt(input.position) : input.receivedAt
  const runs = state ?? NONE
  const before = late ? runs.late : runs.onTime
  const decisions = names
    .filter((name) => !isSameRun(before[alarmKey(name)] ?? before[name], at))
    .map((alarm): Decision => {
      const position = input.kind === 'position' && { position: input.position }
      return { type: 'alarm.reported', at, alarm, late, ...position }
    })
  // Positions that are on time have ascending times.
  const endedBefore = input.kind === 'position' && !late ? at - RUN_MS : -Infinity
  const after = withReported(before, names.map(alarmKey), { at, endedBefore })
  return {
    state: late ? { ...runs, late: after } : { ...runs, onTime: after },
    decisions,
    due: null,
  }
}

function alarmsIn(input: Exclude<FactInput, { kind: 'time' }>): readonly string[] {
  const attributes: Attributes | undefined =
    input.kind === 'position' ? input.position.attributes : input.attributes
  return alarmNames(attributes?.['alarm'])
}

function isSameRun(reportedAt: number | undefined, at: number): boolean {
  return reportedAt !== undefined && Math.abs(at - reportedAt) <= RUN_MS
}

/**
 * The runs after a report. One last reported before `endedBefore` can no longer continue. A heartbeat ends none,
 * because positions that were recorded before it may still come.
 */
function withReported(
  runs: Readonly<Record<string, number>>,
  keys: readonly string[],
  { at, endedBefore }: { at: number; endedBefore: number },
): Readonly<Record<string, number>> {
  const open = Object.entries(runs).filter(
    ([key, reportedAt]) => reportedAt >= endedBefore && !keys.includes(alarmKey(key)),
  )
  const reported = keys.map((key) => [key, at] as const)
  return Object.fromEntries([...open, ...reported].slice(-MOST_RUNS))
}
