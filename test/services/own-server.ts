import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { startGuard } from './guard.ts'
import { dataFolder } from './test-run.ts'

/** A server that may die and come back on the same port with its data. */
export type OwnServer = {
  /** As a power cut would. */
  kill(): Promise<void>
  /** Lets it shut down. */
  stop(): Promise<void>
  /** After `kill` or `stop`; resolves when it answers again. */
  restart(): Promise<void>
  /** The process that ends the server at the end of the run. */
  readonly guardPid: number
}

export type ServerOptions = {
  /** The data folder; by default a new one. In a container, data stays in the container. */
  readonly dataDir?: string
  /** On loopback; by default a free port. */
  readonly port?: number
}

/** How to start one program; recreated for each start. */
export type Launch = {
  readonly command: string
  readonly args: readonly string[]
  /** Resolves when the server works. */
  readonly answers: () => Promise<unknown>
}

/** Starts a program as a process and waits until it answers. */
export async function startProcess(
  name: string,
  { dataDir = dataFolder(name) }: ServerOptions,
  launch: (dataDir: string) => Promise<Launch>,
): Promise<OwnServer> {
  const logFile = join(dataDir, 'output.log')
  const start = async () => {
    const { command, args, answers } = await launch(dataDir)
    const guard = startGuard(['process', command, ...args], logFile)
    try {
      await untilItAnswers(answers, guard.isEnded)
      return guard
    } catch (cause) {
      await guard.kill()
      const output = readFileSync(logFile, 'utf8').trim().slice(-1000)
      throw new Error(`${name} did not start: ${output}`, { cause })
    }
  }
  let guard = await start()
  return {
    get guardPid() {
      return guard.pid
    },
    kill: () => guard.kill(),
    stop: () => guard.stop(),
    async restart() {
      guard = await start()
    },
  }
}

/** Resolves when `answers` does; rejects immediately if the server ends first. */
export async function untilItAnswers(
  answers: () => Promise<unknown>,
  isEnded: () => boolean,
): Promise<void> {
  const outcome = await eventually(
    async () => {
      if (isEnded()) return 'ended'
      await answers()
      return 'answers'
    },
    { withinMs: 90_000, everyMs: 100 },
  )
  if (outcome === 'ended') throw new Error('it ended by itself')
}

const FIRST_PORT = 20_000
const PORTS = 12_700
/** Processes of concurrent test files have ids close together, so each uses a different slice of the ports. */
const SLICES = 50
const SLICE = PORTS / SLICES
const sliceStart = FIRST_PORT + (process.pid % SLICES) * SLICE
let next = randomInt(SLICE)

/**
 * A port on loopback that was free a moment ago and that no recent call returned. It is outside the
 * range that Linux assigns to connections and to servers on port 0, which could take it before a
 * server starts or while it is down.
 */
export async function freePort(): Promise<number> {
  const port = sliceStart + next
  next = (next + 1) % SLICE
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort()
  await new Promise((resolve) => server.close(resolve))
  return port
}
