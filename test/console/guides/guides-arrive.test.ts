import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SAMPLE, type Guide } from '../../../console/guides/guide.ts'
import { GUIDES, guideOf } from '../../../console/guides/guides.ts'
import { adminReader } from '../../admin-reader.ts'
import { createKey, operatorEnv, signIn } from '../../deployments.ts'
import { eventually } from '../../eventually.ts'
import { startEmbedded, type Embedded } from '../../programs.ts'
import { endPrograms } from '../../running-programs.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { ODD_ID } from './every-guide.ts'
import { micropython } from './micropython.ts'

const ALL = GUIDES.flatMap(({ guides }) => guides.map(({ id }) => id))
/** Trackers, identified by their radio's id. */
const DEV_EUIS = new Map([
  ['the-things-stack', '70B3D57ED0001234'],
  ['chirpstack', '70b3d57ed0001235'],
])
const place = { latitude: 47.5, longitude: -1.25, time: Math.floor(Date.now() / 1000) * 1000 }

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let service: Embedded
let key: string
let reader: ReturnType<typeof adminReader>

beforeAll(async () => {
  directory = await temporaryDirectory()
  service = await startEmbedded(directory.path, operatorEnv())
  key = await createKey(service.adminUrl)
  reader = adminReader({ adminUrl: service.adminUrl, key })
})

afterAll(async () => {
  await endPrograms()
  await directory.remove()
})

/** Gives the device a position first. */
function history(deviceId: string) {
  return eventually(
    async () => {
      const found = await reader.positionsIfAny(deviceId)
      return found.length > 0 && found
    },
    { everyMs: 50 },
  )
}

describe('guides of apps', () => {
  test.each(ALL)('reports of %s, set up as its guide says, are stored', async (id) => {
    const guide: Guide = await guideOf(id).load()
    const deviceId = DEV_EUIS.get(id) ?? `${id} ${ODD_ID}`
    const { url, ...request } = guide.example({ address: service.ingestUrl, key, deviceId }, place)
    const answer = await fetch(url, request)
    expect([await answer.text(), answer.ok]).toEqual([expect.any(String), true])
    const positions = await history(guide.arrivesAs?.(deviceId) ?? deviceId)
    expect(positions).toHaveLength(1)
    const { latitude, longitude } = place
    expect(positions[0]).toMatchObject({
      latitude,
      longitude,
      timestamp: new Date(place.time).toISOString(),
    })
    // Each app's example has these values in its own unit.
    const told: Record<string, unknown> = { ...positions[0] }
    for (const [name, value] of Object.entries({
      speed: 10,
      heading: 90,
      battery: 0.8,
      altitude: 180,
    })) {
      if (told[name] !== undefined)
        expect([name, told[name]]).toEqual([name, expect.closeTo(value, 3)])
    }
  })

  test('the console shows why a report of an app was rejected', async () => {
    const guide = await guideOf('owntracks-android').load()
    const setup = { address: service.ingestUrl, key, deviceId: 'jane/phone' }
    const { url, ...request } = guide.example(setup, { ...place, latitude: 95 })
    expect((await fetch(url, request)).ok).toBe(true)
    const { call } = await signIn(service.adminUrl)
    const [rejection] = await eventually(async () => {
      const { items } = await call<{ items: object[] }>('GET', '/rejections?deviceId=jane%2Fphone')
      return items.length > 0 && items
    })
    expect(rejection).toMatchObject({
      error: 'INVALID_PARAMS',
      message: expect.stringContaining('latitude'),
    })
  })
})

test('an uplink without a position shows that a known tracker is alive, and is a rejection for another', async () => {
  const guide: Guide = await guideOf('chirpstack').load()
  const [known, unknown] = ['70b3d57ed0009001', '70b3d57ed0009002']
  const send = async (deviceId: string, object?: object) => {
    const { url, body, ...request } = guide.example(
      { address: service.ingestUrl, key, deviceId },
      place,
    )
    const sent = { ...(JSON.parse(body ?? '') as object), ...(object && { object }) }
    expect((await fetch(url, { ...request, body: JSON.stringify(sent) })).ok).toBe(true)
  }
  await send(known)
  await history(known)
  await send(known, { ...place, fixFailed: true, batteryLevel: 1 })
  await send(known, { temp: 3, batteryLevel: 2 })
  const { call } = await signIn(service.adminUrl)
  const rejections = (id: string) =>
    call<{ items: object[] }>('GET', `/rejections?deviceId=${id}`).then(({ items }) => items)
  // Such a message causes no rejection while the store is slow to say whether its device is known.
  const rejected = await eventually(async () => {
    await send(unknown, { temp: 3 })
    const items = await rejections(unknown)
    return items.length > 0 && items
  })
  expect(rejected).toMatchObject([{ message: expect.stringContaining('temp') }])
  expect(await rejections(known)).toEqual([])
  const device = await eventually(async () => {
    const found = await call<{ telemetry?: { battery?: number } }>('GET', `/devices/${known}`)
    return found.telemetry?.battery === 0.02 && found
  })
  expect(device).toMatchObject({ reportCount: 1, lastPosition: { battery: 0.8 } })
})

describe('guides of programs', () => {
  const PROGRAMS = {
    curl: () => ({ program: 'sh', options: ['-c'] }),
    node: () => ({ program: process.execPath, options: ['--input-type=module', '-e'] }),
    python: () => ({ program: 'python3', options: ['-c'] }),
    micropython,
  }

  test.each(Object.entries(PROGRAMS))('the %s program of the guide runs', async (id, runner) => {
    const found = runner()
    // CI has them all; a developer's machine may lack one.
    const isThere = found !== undefined && !spawnSync(found.program, ['--version']).error
    if (process.env['CI'] === undefined && !isThere) return
    const { program, options } = found ?? { program: id, options: [] }
    const deviceId = `program ${id} ${ODD_ID}`
    const [step] = (await guideOf(id).load()).steps({ address: service.ingestUrl, key, deviceId })
    const text = step?.entries?.[0]?.text ?? ''
    const run = spawn(program, [...options, text], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (part: Buffer) => (output += part.toString()))
    const [code] = (await once(run, 'close')) as [number]
    expect([code, output]).toEqual([0, expect.stringContaining('Position accepted')])
    expect(await history(deviceId)).toMatchObject([SAMPLE])
  })
})
