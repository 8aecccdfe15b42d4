import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import { ConfigError, type Config, loadConfig, misspeltVariables } from '../config/config.ts'
import { Lifecycle } from './lifecycle.ts'
import { createLogger, type Logger } from './logger.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { serveMetrics } from '../http/service-routes.ts'
import { VERSION } from './instance.ts'

/** This version was released later, so an earlier time means that the clock is wrong. */
const MADE_AT = Date.UTC(2026, 0, 1)

export const COULD_NOT_START = 'could not start'

/** The dependencies that every process starts with. */
export type Program = {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
}

export type ProgramOptions = {
  /** The arguments that the program takes, and their effects. */
  readonly options?: Readonly<Record<string, string>>
  /** Variables that override the environment. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * Runs a process, or a worker thread of one: reads the configuration, calls `start`, which
 * registers its resources with the lifecycle, and stops on a signal. If the start fails, it logs
 * one message, closes the resources opened so far, and exits with code 1. A worker thread leaves
 * the message to the main thread, and ends with the error.
 */
export async function runProgram(
  name: string,
  start: (program: Program) => Promise<void>,
  { options = {}, settings = {} }: ProgramOptions = {},
): Promise<void> {
  answerArguments(name, options)
  // Requests leave little garbage behind: waking helper threads for it costs more than they save.
  if (isMainThread) setFlagsFromString('--no-parallel-scavenge')
  const config = readConfig(settings)
  const logger = createLogger({ level: config.logLevel, name }).child(
    isMainThread ? {} : { thread: 'worker' },
  )
  const lifecycle = new Lifecycle({ logger, deadlineMs: config.shutdownDeadlineMs })
  lifecycle.stopOnSignals()
  try {
    const metrics = createMetrics()
    const mode = config.distributed === undefined ? 'embedded' : 'distributed'
    metrics.buildInfo.set({ service: name, version: VERSION, mode }, 1)
    const program = { config, logger, metrics, lifecycle }
    if (isMainThread) warnOfClock(logger)
    if (isMainThread) warnOfVariables(logger)
    if (isMainThread) await serveMetrics(program)
    await start(program)
    if (isMainThread && !lifecycle.stopping.aborted) logger.info({ version: VERSION }, 'started')
  } catch (error) {
    if (lifecycle.stopping.aborted) return
    if (isMainThread) return lifecycle.fail(error, COULD_NOT_START)
    await lifecycle.close().catch(() => undefined)
    throw error
  }
}

/**
 * Machines without a battery for their clock start with a time in the past, until they reach a time
 * server.
 */
function warnOfClock(logger: Logger): void {
  const now = Date.now()
  if (now >= MADE_AT) return
  const says = new Date(now).toISOString()
  const reason = `it says ${says}: set it (timedatectl set-ntp true), reports with their own time are rejected until then`
  logger.warn({ reason }, 'the clock of this machine is wrong')
}

/** A misspelt variable would silently leave the default in effect. */
function warnOfVariables(logger: Logger): void {
  for (const { variable, meant } of misspeltVariables()) {
    const reason = `no variable has this name: did you mean ${meant}?`
    logger.warn({ variable, reason }, 'an environment variable is ignored')
  }
}

/** Exits on an unknown argument, and names the known ones. */
function answerArguments(name: string, options: Readonly<Record<string, string>>): void {
  const args = process.argv.slice(2)
  if (args.every((one) => Object.hasOwn(options, one))) return
  const taken = Object.entries(options).map(([option, does]) => `  ${option}  ${does}\n`)
  process.stdout.write(
    `${name} takes ${taken.length === 0 ? 'no arguments. ' : `one argument:\n\n${taken.join('')}\n`}` +
      'Environment variables configure it: .env.example names each of\n' +
      'them with its meaning and its default. SIGTERM or Ctrl-C ends it.\n',
  )
  process.exit(args.includes('--help') ? 0 : 2)
}

function readConfig(settings: Readonly<Record<string, string>>): Config {
  try {
    return loadConfig(undefined, settings)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
