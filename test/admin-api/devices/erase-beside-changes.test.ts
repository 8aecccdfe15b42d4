import { randomInt } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from '@jest/globals'
import { projectInUse } from '../../../projector/project-in-use.ts'
import { projectorGroup } from '../../../projector/projector.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { startAdmin, type AdminHarness, type Answer } from '../admin-harness.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const NAME = 'Mrs Miller'
/** Further calls of one operator are queued. */
const AT_ONCE = 8
const DAY_MS = 86_400_000

let harness: AdminHarness
let headers: Record<string, string>
/** Runs before the next call of a store method. */
let before: { readonly method: string; readonly happens: () => Promise<unknown> } | undefined
/** Calls of the store wait for a random number of turns, up to this. */
let mostTurns = 0

beforeEach(async () => {
  before = undefined
  mostTurns = 0
  harness = await startAdmin({ wrapStore })
  // The clock advances, so that nothing is in order only because its times are equal.
  harness.clock.now = () => (harness.clock.time += 1)
  headers = await harness.createSession()
})

function wrapStore(store: Store): Store {
  const wrapped = Object.entries(store).map(([method, call]) => [
    method,
    async (...args: unknown[]) => {
      const handOver = before?.method === method ? before : undefined
      if (handOver !== undefined) {
        before = undefined
        await handOver.happens()
      }
      for (let turns = randomInt(mostTurns + 1); turns > 0; turns -= 1) await turn()
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(wrapped) as Store
}

const path = (deviceId: string) => `/devices/${deviceId}`
const erase = (deviceId: string) => harness.api('DELETE', path(deviceId), { headers })

/** Projects the log to its end, as the projector does. */
async function project(): Promise<void> {
  const { eventLog, store } = harness
  const stop = new AbortController()
  const { signal } = stop
  const running = projectInUse({ eventLog, store, metrics: createMetrics(), logger, signal })
  const lag = async () => eventLog.lag(projectorGroup(1), await store.checkpoint())
  await eventually(async () => (await lag()).events === 0)
  stop.abort()
  await running
}

async function report(...deviceIds: readonly string[]): Promise<void> {
  const time = harness.clock.now()
  const times = { timestamp: time, receivedAt: time }
  await harness.eventLog.append(
    deviceIds.map((deviceId) => positionReported({ deviceId, ...times })),
  )
  await project()
}

/** A device that was erased, with the erasure projected, and reports again. */
async function eraseWhole(deviceId: string): Promise<void> {
  expect((await erase(deviceId)).status).toBe(202)
  await report(deviceId)
}

type Change = (deviceId: string) => Promise<Answer>

const CHANGES: Record<string, { method: string; change: Change }> = {
  'a change of its settings': {
    method: 'changeDeviceSettings',
    change: (deviceId) =>
      harness.api('PATCH', path(deviceId), {
        headers,
        body: { name: NAME, labels: [NAME], expectedIntervalSeconds: 60, disabled: true },
      }),
  },
  'a label for many devices': {
    method: 'changeLabels',
    change: (deviceId) =>
      harness.api('POST', '/devices/labels', {
        headers,
        body: { deviceIds: [deviceId], add: [NAME] },
      }),
  },
  'a link that names it': {
    method: 'createShare',
    change: (deviceId) =>
      harness.api('POST', '/shares', {
        headers,
        body: {
          name: `Visit of ${NAME}`,
          deviceIds: [deviceId],
          names: { [deviceId]: NAME },
          expiresAt: new Date(harness.clock.time + DAY_MS),
        },
      }),
  },
}

/** No read returns any setting that operators made for the devices. */
async function expectNothingSaid(...deviceIds: readonly string[]): Promise<void> {
  for (const deviceId of deviceIds) {
    const device = await harness.api('GET', path(deviceId), { headers })
    expect(device.body.data).toMatchObject({ name: null, labels: [], disabled: false })
    expect(device.body.data).not.toHaveProperty('expectedIntervalSeconds')
  }
  for (const list of ['/devices', '/labels', '/shares', '/audit']) {
    expect((await harness.api('GET', list, { headers })).text).not.toContain(NAME)
  }
}

test.each(Object.entries(CHANGES))(
  '%s that started before an erasure does not outlive it',
  async (_, { method, change }) => {
    await report('van')
    before = { method, happens: () => eraseWhole('van') }
    const answer = await change('van')
    expect(before).toBeUndefined()
    const { results } = (answer.body.data ?? {}) as { results?: readonly object[] }
    if (results !== undefined) expect(results).toMatchObject([{ error: 'NOT_FOUND' }])
    else expect(answer.status).toBe(method === 'createShare' ? 400 : 404)
    await expectNothingSaid('van')
  },
)

test.each(Object.entries(CHANGES))(
  '%s that is recorded after an erasure leaves no trace of the device in the audit',
  async (_, { change }) => {
    await report('van')
    before = { method: 'appendAudit', happens: () => eraseWhole('van') }
    expect((await change('van')).status).toBeLessThan(300)
    expect(before).toBeUndefined()
    await expectNothingSaid('van')
  },
)

test.each(Object.entries(CHANGES))(
  '%s that was recorded before an erasure leaves no trace of the device in the audit',
  async (_, { change }) => {
    await report('van')
    expect((await change('van')).status).toBeLessThan(300)
    expect((await harness.api('GET', '/audit', { headers })).text).toContain(NAME)
    await eraseWhole('van')
    await expectNothingSaid('van')
  },
)

test.each(Object.entries(CHANGES))(
  '%s that comes between the steps of an erasure does not outlive it',
  async (_, { change }) => {
    for (const method of ['hideErased', 'unshareDevice', 'appendAudit']) {
      const deviceId = `van-${method}`
      await report(deviceId)
      before = { method, happens: () => change(deviceId) }
      await eraseWhole(deviceId)
      expect(before).toBeUndefined()
      await expectNothingSaid(deviceId)
    }
  },
)

test.each(Object.entries(CHANGES))(
  '%s concurrent with an erasure does not outlive it',
  async (_, one) => {
    mostTurns = 10
    for (let round = 0; round < 10; round += 1) {
      const devices = Array.from({ length: AT_ONCE / 2 }, (_, n) => `van-${round}-${n}`)
      await report(...devices)
      const calls = devices.flatMap((deviceId) => [one.change(deviceId), erase(deviceId)])
      const answers = await Promise.all(calls)
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(devices.length)
      await report(...devices)
      await expectNothingSaid(...devices)
    }
  },
)

test('a hidden device cannot be changed', async () => {
  await report('van')
  before = {
    method: 'unshareDevice',
    async happens() {
      const answer = await CHANGES['a change of its settings']?.change('van')
      expect(answer?.status).toBe(404)
    },
  }
  expect((await erase('van')).status).toBe(202)
  expect(before).toBeUndefined()
})
