import { expect } from '@jest/globals'
import fc from 'fast-check'
import { armFault, type StatementFault } from './faulty-driver.ts'
import { DEVICES, toSent, type Model, type Report } from './model.ts'
import { LINES, type Line } from './line.ts'
import type { EraseStep, World } from './world.ts'

type Command = fc.AsyncCommand<Model, World>

/** Few, so that they repeat often. */
const TURNS = 5
const EVERYTHING = { sizes: [500], back: 0, most: 1000 }

/** Everything that can happen. After each command, all visible data is checked. */
export function commands(): fc.Arbitrary<Command>[] {
  const turn = fc.oneof(
    { weight: 3, arbitrary: fc.nat(TURNS - 1) },
    fc.constant('heartbeat' as const),
  )
  const report = fc.record({ device: fc.nat(DEVICES.length - 1), turn })
  const batch = fc.array(report, { minLength: 1, maxLength: 4 })
  return [
    batch.map((reports) => send([reports])),
    batch.map((reports) => send([reports])),
    fc.array(batch, { minLength: 2, maxLength: 4 }).map(send),
    report.map(({ device }) => erase(device)),
    fc
      .tuple(report, fc.constantFrom<EraseStep>('announced', 'logged', 'answered'))
      .map(([{ device }, upTo]) => nameWhileErased(device, upTo)),
    fc
      .record({
        sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
        back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(12)),
        most: fc.oneof({ weight: 3, arbitrary: fc.constant(1000) }, fc.nat(3)),
      })
      .map(project),
    fc.constantFrom<Line>(...LINES, 'up', 'down').map(line),
    fc
      .record({
        fault: fc.constantFrom<StatementFault>(
          ...(['dies before', 'dies after', 'busy', 'full', 'done, but fails'] as const),
        ),
        nth: fc.integer({ min: 1, max: 30 }),
      })
      .map(arm),
    fc.constant(kill()),
    fc.constant(drain()),
    fc.constant(rebuild()),
    fc.array(batch, { maxLength: 3 }).map(rebuildDuring),
  ]
}

function send(batches: Report[][]): Command {
  return command(`send ${JSON.stringify(batches)}`, (model, world) => sendTo(model, world, batches))
}

async function sendTo(model: Model, world: World, batches: Report[][]): Promise<void> {
  const at = world.clock.now()
  model.sent(batches.flat(), at)
  const answers = await world.send(
    batches.map((reports) => reports.map((report) => toSent(report, at))),
  )
  batches.forEach((reports, index) => {
    const answer = answers[index]
    if (answer !== undefined) model.acknowledged(reports, answer, at)
  })
}

function erase(device: number): Command {
  return command(`erase ${DEVICES[device]}`, (model, world) => eraseIn(model, world, device))
}

async function eraseIn(model: Model, world: World, device: number, upTo?: EraseStep) {
  model.erasing(device, world.clock.now())
  if (await world.erase(DEVICES[device]!, upTo)) model.erased(device)
}

/** An operator names a visible device once its erasure has reached this step. */
function nameWhileErased(device: number, upTo: EraseStep): Command {
  const deviceId = DEVICES[device]!
  return command(`name ${deviceId} once its erasure is ${upTo}`, async (model, world) => {
    await sendTo(model, world, [[{ device, turn: 0 }]])
    world.becomes('up')
    await world.drained()
    await world.project(EVERYTHING)
    world.clock.time += 1
    await eraseIn(model, world, device, upTo)
    world.clock.time += 1
    const at = world.clock.now()
    await world.unlessItDies(async () => {
      if (await world.awaitsErasure(deviceId)) model.doomed(device, at)
    })
    if (await world.name(deviceId, String(at))) model.named(device, at)
  })
}

function project(options: Parameters<World['project']>[0]): Command {
  return command(`project ${JSON.stringify(options)}`, async (_model, world) => {
    await world.project(options)
  })
}

function line(state: Line): Command {
  return command(`the line is ${state}`, async (_model, world) => world.becomes(state))
}

function arm({ fault, nth }: { fault: StatementFault; nth: number }): Command {
  return command(`at statement ${nth}: ${fault}`, async () => armFault(fault, nth))
}

function kill(): Command {
  return command('kill', async (_model, world) => world.kill())
}

function drain(): Command {
  return command('drain', async (_model, world) => {
    world.becomes('up')
    await world.drained()
  })
}

function rebuild(): Command {
  return command('rebuild', async (_model, world) => {
    await world.rebuild()
  })
}

/** Reports keep coming and are projected and read during a rebuild of the read models. */
function rebuildDuring(batches: Report[][]): Command {
  return command(`rebuild during ${JSON.stringify(batches)}`, async (model, world) => {
    await world.rebuild(async () => {
      for (const reports of batches) await sendTo(model, world, [reports])
      await world.project({ sizes: [2], back: 0, most: 1000 })
      await world.unlessItDies(() => model.check(world, { all: false }))
    })
  })
}

function command(name: string, run: (model: Model, world: World) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(model, world) {
      world.clock.time += 1
      await run(model, world)
      await world.revive()
      await model.check(world, { all: false })
    },
  }
}

/** The invariants once nothing blocks progress. */
export async function settle(model: Model, world: World): Promise<void> {
  await world.revive()
  world.becomes('up')
  await world.drained()
  // Erased devices report again, so that any leftover data would be visible.
  world.clock.time += 1
  await sendTo(model, world, [DEVICES.map((_, device) => ({ device, turn: 0 }))])
  await world.drained()
  expect(await world.project(EVERYTHING)).toBe(true)
  await model.check(world, { all: true })
  await model.checkSeen(world)
  await model.checkNames(world)
  model.checkOrder(await world.logged())
  expect(await world.rebuild()).toBe(true)
  await model.check(world, { all: true })
  await model.checkSeen(world)
  await model.checkNames(world)
}
