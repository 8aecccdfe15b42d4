import { stat } from 'node:fs/promises'
import { describeFaults } from '../../runtime/errors.ts'
import { parseImportedReport } from '../../schemas/report/position-report.ts'
import { realTiming, type Timing } from '../../client/timing.ts'
import { showProgress, timeLeft, formatThousands, type Screen } from '../progress.ts'
import { importFiles } from './import-files.ts'
import type { Options } from './options.ts'
import { historySender, openOutbox, type Outgoing } from './send-history.ts'
import type { ImportTally } from './tally.ts'

const SHOWN_EVERY_MS = 200

/**
 * Imports files, showing the progress, and tallies their points.
 * @throws once the service rejects the import as a whole, or is unavailable for too long.
 */
export async function importHistory(
  { target, ...chosen }: Options,
  { tally, screen, timing = realTiming }: { tally: ImportTally; screen: Screen; timing?: Timing },
): Promise<void> {
  const startedAt = timing.now()
  const progress = showProgress({ screen, now: () => timing.now() })
  const totalBytes = await sizeOf(chosen.files)
  let [bytes, points] = [0, 0]
  let waitingFor: string | undefined
  const observe = {
    answered: () => (waitingFor = undefined),
    repeated: (reason: string) => (waitingFor = reason),
  }
  const send = target && historySender(target, { tally, timing, observe })
  const outbox = send && openOutbox(send)

  async function deliver(outgoing: Outgoing): Promise<void> {
    points += 1
    if (outbox === undefined) tryOut(outgoing)
    else await outbox.add(outgoing)
  }

  /** Judges a report by the rules of the service. */
  function tryOut({ report, where }: Outgoing): void {
    const judged = parseImportedReport(report, { now: startedAt })
    if ('report' in judged) tally.accept(report)
    else {
      const { message } = describeFaults(judged.faults)
      tally.refuse({ error: 'INVALID_PARAMS', message }, where)
    }
  }

  function show(): void {
    const elapsedMs = timing.now() - startedAt
    progress.show(() => importProgress({ points, bytes, totalBytes, elapsedMs, waitingFor }))
  }

  const showing = setInterval(show, SHOWN_EVERY_MS)
  try {
    const onBytes = (read: number) => (bytes += read)
    await importFiles(chosen, { tally, onBytes, deliver })
    await outbox?.flush()
  } finally {
    clearInterval(showing)
    progress.end()
  }
}

/** The size of all files in bytes; undefined if one has no size, such as a pipe. */
async function sizeOf(files: readonly string[]): Promise<number | undefined> {
  let total = 0
  for (const file of files) {
    const stats = await stat(file).catch(() => undefined)
    if (stats?.isFile() !== true) return undefined
    total += stats.size
  }
  return total
}

/** Formats progress, for example `12,000 points, 9,800/s, 24 % read, about 6 s left`. */
function importProgress({
  points,
  bytes,
  totalBytes,
  elapsedMs,
  waitingFor,
}: {
  points: number
  bytes: number
  totalBytes: number | undefined
  elapsedMs: number
  /** The reason why the last request is being retried. */
  waitingFor?: string | undefined
}): string {
  const seconds = elapsedMs / 1000
  const share = totalBytes === undefined || totalBytes === 0 ? undefined : bytes / totalBytes
  return [
    `${formatThousands(points)} points`,
    ...(seconds > 0 ? [`${formatThousands(Math.round(points / seconds))}/s`] : []),
    ...(share === undefined ? [] : [`${Math.floor(100 * share)} % read`]),
    ...(share === undefined || share === 0 ? [] : timeLeft(seconds / share - seconds)),
    ...(waitingFor === undefined ? [] : [`sent again after ${waitingFor}`]),
  ].join(', ')
}
