import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { FaultyDatabase } from './faulty-driver.ts'

/** A seed that failed fails again; the test's name has it, even when a run hangs. */
const RUNS = Number(process.env['MODEL_RUNS'] ?? 50)
const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31))
const FASTER = 50
/** A run takes about 70 ms. */
const HANGS_MS = 20_000

// Time runs faster: pauses become a few event-loop turns.
const { setTimeout: realTimeout } = globalThis
globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) =>
  realTimeout(run, ms / FASTER, ...rest)) as typeof setTimeout
jest.unstable_mockModule('node:timers/promises', () => ({
  setTimeout: () => new Promise((resolve) => setImmediate(resolve)),
  setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
}))
jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: FaultyDatabase }))

const { commands, settle } = await import('./commands.ts')
const { disarm } = await import('./faulty-driver.ts')
const { Model } = await import('./model.ts')
const { openWorlds } = await import('./worlds.ts')

let worlds: ReturnType<typeof openWorlds>

beforeAll(() => {
  worlds = openWorlds()
})

afterAll(() => {
  worlds.close()
  globalThis.setTimeout = realTimeout
})

test(`promises to senders and operators hold through all faults: ${RUNS} runs, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands(), { maxCommands: 24 }), async (steps) => {
      const world = await worlds.open()
      const model = new Model()
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), steps)
        disarm()
        await settle(model, world)
      } finally {
        disarm()
        await world.close()
      }
    }),
    {
      numRuns: RUNS,
      timeout: FASTER * HANGS_MS,
      seed: SEED,
    },
  )
}, 14_400_000)
