type Report = { readonly at: number }

/** A moment that was typed is the end of its second. */
const SECOND_MS = 1_000

/**
 * The moment of the report so many reports after a moment, or before it (negative steps), and the
 * steps that lead beyond the reports. Reports of the same moment are one.
 */
export function walk(
  reports: readonly Report[],
  from: number,
  steps: number,
): { readonly at: number; readonly left: number } {
  let at = from
  for (let left = steps; left !== 0; left -= Math.sign(steps)) {
    const next = steps < 0 ? reportBefore(reports, at) : reports.find((one) => one.at > at)
    if (next === undefined) return { at, left }
    at = next.at
  }
  return { at, left: 0 }
}

function reportBefore(reports: readonly Report[], at: number): Report | undefined {
  const shown = reports.findLast((one) => one.at <= at)
  const isAtReport = shown !== undefined && at - shown.at < SECOND_MS
  return isAtReport ? reports.findLast((one) => one.at < shown.at) : shown
}
