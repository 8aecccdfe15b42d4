import { hostname } from 'node:os'
import { expect, test } from '@jest/globals'
import { reportInstance, VERSION } from '../../../runtime/process/instance.ts'
import type { InstanceReport } from '../../../schemas/instance-report.ts'
import { T0 } from '../../samples.ts'

test('each report of an instance has its identity, start time and figures', async () => {
  const saved: InstanceReport[] = []
  const clock = { time: T0, now: () => clock.time }
  let deadLetters = 0
  const report = reportInstance({
    service: 'projector',
    save: async (instance) => void saved.push(instance),
    measure: () => ({ lag: { events: 4, seconds: 1.5 }, deadLetters }),
    clock,
  })
  clock.time = T0 + 10_000
  await report()
  clock.time = T0 + 20_000
  deadLetters = 1
  await report()
  const instance = {
    instanceId: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
    service: 'projector',
    version: VERSION,
    host: hostname(),
    startedAt: T0,
    lag: { events: 4, seconds: 1.5 },
  }
  expect(saved).toEqual([
    { ...instance, reportedAt: T0 + 10_000, deadLetters: 0 },
    { ...instance, reportedAt: T0 + 20_000, deadLetters: 1 },
  ])
  expect(saved[0]?.instanceId).toBe(saved[1]?.instanceId)
})

test('another run of the same service is another instance', async () => {
  const saved: InstanceReport[] = []
  const save = async (instance: InstanceReport) => void saved.push(instance)
  const clock = { now: () => T0 }
  await reportInstance({ service: 'admin-api', save, clock })()
  await reportInstance({ service: 'admin-api', save, clock })()
  expect(saved[0]?.instanceId).not.toBe(saved[1]?.instanceId)
  expect(saved[0]).not.toHaveProperty('lag')
})
