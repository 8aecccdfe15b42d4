import { readFileSync } from 'node:fs'
import { realTiming as timing } from '../../client/timing.ts'
import { senderKeys } from '../../runtime/config/config.ts'
import { UsageError } from '../../runtime/process/command-line.ts'
import { runCommand } from '../command.ts'
import { UnreadableError } from '../../schemas/formats/histories/format.ts'
import { decodeText } from '../../schemas/formats/histories/text-encoding.ts'
import { HELP, parseOptions, type GpxSource, type Options } from './options.ts'
import { movingDevices, replayTrack, type DevicePlan } from './planned-report.ts'
import { GpxError, readGpx, timeTrack } from './recorded-track.ts'
import { runSimulation } from './run-simulation.ts'
import { isFlawless, simulationSummary } from './summary.ts'

/** Shell and npm often both forward a signal; a second one within this time is ignored. */
const SAME_SIGNAL_MS = 1_000

process.exitCode = await runCommand(process.argv.slice(2), {
  help: HELP,
  parse: (args) => parseOptions(args, senderKeys()),
  run: simulate,
})

async function simulate({ source, ...target }: Options): Promise<number> {
  const startedAt = Math.floor(timing.now())
  const plans = plan(source, startedAt)
  process.stderr.write(`${announcement(source, plans)}, to ${target.url.host}\n`)
  const screen = process.stderr
  const result = await runSimulation({ ...target, plans, timing, startedAt, screen, ...signals() })
  process.stdout.write(simulationSummary(result))
  return isFlawless(result) ? 0 : 1
}

function plan(source: Options['source'], startedAt: number): DevicePlan[] {
  return source.kind === 'moving'
    ? movingDevices({ ...source, startedAt })
    : replayTracks(source, startedAt)
}

function replayTracks({ tracks, times, speedup }: GpxSource, now: number): DevicePlan[] {
  return tracks.map(({ file, deviceId }) => {
    try {
      const points = timeTrack(readGpx(decodeText(readFileSync(file))), { times, now })
      return replayTrack({ deviceId, points, ...(speedup !== undefined && { speedup }) })
    } catch (error) {
      if (error instanceof GpxError || error instanceof UnreadableError) {
        throw new UsageError(`--gpx ${file}: ${error.message}`)
      }
      if (!(error instanceof Error && 'syscall' in error)) throw error
      throw new UsageError(`--gpx must be a file that can be read: ${error.message}`)
    }
  })
}

function announcement(source: Options['source'], plans: readonly DevicePlan[]): string {
  return source.kind === 'moving'
    ? `${source.devices} devices, ${source.rate} reports a second each`
    : plans.map(({ deviceId, count }) => `${deviceId}: ${count} points`).join(', ')
}

/** The first signal stops the run, the second aborts it. */
function signals(): { stop: AbortSignal; cut: AbortSignal } {
  const stop = new AbortController()
  const cut = new AbortController()
  let stoppedAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stoppedAt ??= timing.now()
      stop.abort()
      if (timing.now() - stoppedAt > SAME_SIGNAL_MS) cut.abort()
    })
  }
  return { stop: stop.signal, cut: cut.signal }
}
