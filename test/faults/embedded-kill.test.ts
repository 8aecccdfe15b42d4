import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startEmbedded, startProgram, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { expectFactsOfModel } from './facts-of-model.ts'
import { expectExactlyOnce } from './invariants.ts'
import { startLoad, type Acknowledged, type Sent } from './load.ts'
import { noteFault } from './table.ts'

const KILLS = 10

let directory: string
let running: Embedded | undefined

beforeEach(async () => {
  directory = await ownDirectory()
})

afterEach(async () => {
  running?.process.kill('SIGKILL')
  await running?.ended
})

test(`reports acknowledged under kill -9 of npm start, ${KILLS} times, are stored once`, async () => {
  running = await startEmbedded(directory)
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(running?.output() ?? '')?.[0])
  const acknowledged: Acknowledged[] = []
  const sent: Sent[] = []
  let unanswered = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const load = startLoad({ urls: [running.ingestUrl], key, concurrency: 20 })
    const enough = 50 + Math.floor(Math.random() * 1_500)
    await eventually(() => load.acknowledged.length >= enough, { withinMs: 60_000, everyMs: 1 })
    running.process.kill('SIGKILL')
    await running.ended
    await load.stop()
    acknowledged.push(...load.acknowledged)
    sent.push(...load.sent)
    unanswered += load.refused.length
    running = await startEmbedded(directory)
  }
  const { adminUrl } = running
  const outcome = await expectExactlyOnce({ adminUrl, key }, { acknowledged, sent })
  expect(outcome.stored).toBeLessThanOrEqual(acknowledged.length + unanswered)
  noteFault('kill -9 of npm start', {
    kills: KILLS,
    ...outcome,
    unanswered,
  })
})

test(`facts decided under kill -9 of npm start, ${KILLS} times, with a rebuild meanwhile, match the model, without duplicates`, async () => {
  running = await startEmbedded(directory)
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(running?.output() ?? '')?.[0])
  const sent: Sent[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const load = startLoad({ urls: [running.ingestUrl], key, concurrency: 5, alarmEvery: 10 })
    const enough = 50 + Math.floor(Math.random() * 500)
    await eventually(() => load.acknowledged.length >= enough, { withinMs: 60_000, everyMs: 1 })
    if (kill === KILLS / 2) {
      const rebuild = startProgram('commands/rebuild/main', { env: { DATA_DIR: directory } })
      expect({ code: await rebuild.ended, output: rebuild.output() }).toMatchObject({ code: 0 })
    }
    running.process.kill('SIGKILL')
    await running.ended
    await load.stop()
    sent.push(...load.sent)
    running = await startEmbedded(directory)
  }
  const facts = await expectFactsOfModel({ adminUrl: running.adminUrl, key }, { sent })
  noteFault('facts under kill -9 of npm start, a rebuild meanwhile', {
    kills: KILLS,
    facts: facts.length,
  })
})
