import { tellFaults } from '../../runtime/errors.ts'
import { parseImportedReport } from '../../schemas/position-report.ts'
import { realTiming, type Timing } from '../../client/timing.ts'
import { showProgress, type Screen } from '../progress.ts'
import { importFiles } from './import-files.ts'
import { importProgress, sizeOf } from './import-progress.ts'
import type { Options } from './options.ts'
import { openOutbox, type Outgoing } from './outbox.ts'
import { historySender } from './send-history.ts'
import type { ImportTally } from './tally.ts'

const SHOWN_EVERY_MS = 200

/**
 * Imports files, showing the progress, and tallies their points.
 * @throws once the service refuses the import as a whole, or is away for too long.
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
      const { message } = tellFaults(judged.faults)
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
