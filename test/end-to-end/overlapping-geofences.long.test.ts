import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import type { Embedded } from '../programs.ts'
import { ADMIN, report, signIn } from './embedded-calls.ts'

const suite = embeddedSuite()
const GEOFENCES = 10_000

test('with 10 000 geofences around one point, npm start runs and restarts, and reports are readable within 2 s', async () => {
  let service = await suite.start(ADMIN)
  let ask = await signIn(service)
  const { key } = await ask('POST', '/keys', { name: 'trackers' })
  for (let made = 0; made < GEOFENCES; made += 1_000) {
    const features = Array.from({ length: 1_000 }, (_, n) => circle(made + n))
    await ask('POST', '/geofences/import', { type: 'FeatureCollection', features })
  }
  const reads = async (deviceId: string, withinMs = 2_000) => {
    await report(service, String(key), deviceId)
    const device = () => ask('GET', `/devices/${deviceId}`)
    await eventually(device, { withinMs })
    const inside = await eventually(async () => {
      const ids = (await device())['inside'] as readonly object[]
      return ids.length > 0 && ids
    })
    expect(inside).toHaveLength(100)
  }
  await reads('van')
  service.process.kill('SIGKILL')
  await service.ended
  service = await suite.start(ADMIN)
  ask = await signIn(service)
  // All geofences are read before anything is judged, which takes longer on a busy machine.
  await reads('tug', 30_000)
  await reads('bus')
  expect(mostMemoryOf(service)).toBeLessThan(600 * 2 ** 20)
  service.process.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

function circle(n: number) {
  const geometry = { type: 'Point', coordinates: [13.4, 52.5] }
  return { type: 'Feature', geometry, properties: { name: `Zone ${n}`, radius: 100 + n } }
}

/** The process's peak memory, in bytes. */
function mostMemoryOf({ process: child }: Embedded): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const kib = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1])
  return kib * 1_024
}
