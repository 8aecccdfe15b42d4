import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from '@jest/globals'
import { bent, degrees, type Spot } from '../town/plane.ts'
import { town } from '../town/town.ts'
import { ways } from '../town/ways.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

const folder = fileURLToPath(new URL('../../../.cache/screenshots/', import.meta.url))
const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } }
const PATHS = {
  'sign-in': undefined,
  map: '/',
  'map-selected': '/?device=van-003',
  'map-nothing-found': '/?q=nothing',
  'no-such-page': '/no/such/page',
  device: '/devices/van-003',
  'device-one-point': '/devices/van-001',
  'no-device': '/devices/none',
  reports: '/reports',
  keys: '/keys',
  connect: '/connect',
  rejections: '/rejections',
  visits: '/visits?latitude=48.2&longitude=16.4&radius=5000',
  notifications: '/notifications',
  audit: '/audit',
  operators: '/operators',
  system: '/system',
  accounts: '/accounts',
  shares: '/shares',
  shared: '/share#TOKEN',
  'new-share': '/shares?device=van-003',
}

const map = join(folder, 'town.pmtiles')

/**
 * With this file as `--testMatch` of the console suite (CONTRIBUTING.md): every page, light and dark,
 * wide and 360 px, in .cache/screenshots. Those in docs/images are copies of them.
 */
describeConsole('pictures', () => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(map, town())
  const suite = consoleSuite({ env: () => ({ MAP_PMTILES: `Town=${map}` }) })

  async function refusedReports(key: string): Promise<void> {
    for (let index = 0; index < 9; index += 1) {
      await suite.submit(key, {
        deviceId: `van-00${index % 4}`,
        latitude: 91 + index,
        longitude: 1,
      })
    }
  }

  test('every page has a screenshot', async () => {
    await suite.report(...fleet(), ...track())
    const { key } = await suite.made('/keys', { name: 'Trackers of the northern depot' })
    await refusedReports(key)
    const { token } = await suite.made('/shares', share())
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const isPhone = size === 'phone'
        const options = { viewport, colorScheme, deviceScaleFactor: isPhone ? 2 : 1 }
        const page = await suite.signedIn('/', { ...options, isMobile: isPhone })
        const other = await (await suite.open(options)).newPage()
        for (const [name, path] of Object.entries(PATHS)) {
          const shown = path === undefined ? other : page
          await shown.goto(suite.url + (path ?? '/').replace('TOKEN', token))
          await shown.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined)
          // Without a move of the mouse the picture may lack what canvases have drawn last.
          await shown.mouse.move(1, 1)
          await suite.pause(800)
          await shown.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
        }
      }
    }
  }, 600_000)
})

function share() {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const deviceIds = ['van-003', 'van-004', 'van-005']
  return { name: 'Deliveries of today', deviceIds, expiresAt, trailMinutes: 480 }
}

/** Vans in the streets of a town. */
function fleet() {
  const streets = ways().filter(({ kind }) => kind === 'minor_road' || kind === 'major_road')
  const all = Array.from({ length: 90 }, (_, index) => {
    const { spots } = streets[(index * 17) % streets.length] ?? { spots: [] }
    return {
      deviceId: `van-${String(index).padStart(3, '0')}`,
      ...placeOn(spots, ((index * 7) % 10) / 10),
      speed: (index * 7) % 28,
      heading: (index * 47) % 360,
      battery: ((index * 13) % 100) / 100,
    }
  })
  return all.filter(({ deviceId }) => deviceId !== 'van-003')
}

/** The last hours of another van, with a gap. */
function track() {
  const named = (name: string) => ways().find((way) => way.name === name)?.spots ?? []
  const [west, south] = [named('Wiener Straße').slice(12, 31), named('Hauptstraße').slice(31, 45)]
  const route = [...south.toReversed(), ...west.toReversed(), ...west, ...south.slice(0, 4)]
  return Array.from({ length: 480 }, (_, index) => ({
    deviceId: 'van-003',
    ...placeOn(route, index / 480),
    altitude: 180 + 40 * Math.sin(index / 50),
    speed: 8 + 7 * Math.sin(index / 20),
    heading: (index * 3) % 360,
    timestamp: new Date(
      Date.now() - (index < 200 ? 3 * 3_600_000 : 7_200_000) + index * 15_000,
    ).toISOString(),
  })).filter(({ timestamp }) => Date.parse(timestamp) < Date.now())
}

/** The point at a fraction of the way, from 0 to 1. */
function placeOn(spots: readonly Spot[], part: number) {
  const at = part * (spots.length - 1)
  const [[fromX, fromY] = [0, 0], [toX, toY] = [fromX, fromY]] = spots.slice(Math.floor(at))
  const rest = at - Math.floor(at)
  const [longitude, latitude] = degrees(
    bent([fromX + (toX - fromX) * rest, fromY + (toY - fromY) * rest]),
  )
  return { latitude, longitude }
}
