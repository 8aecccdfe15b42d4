import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from '@jest/globals'
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
  keys: '/keys',
  connect: '/connect',
  rejections: '/rejections',
  audit: '/audit',
  operators: '/operators',
  system: '/system',
  accounts: '/accounts',
  shares: '/shares',
  shared: '/share#TOKEN',
  'new-share': '/shares?device=van-003',
}

/** `npm run screenshots`: every page, light and dark, wide and 360 px, in .cache/screenshots. */
describeConsole('pictures', () => {
  const suite = consoleSuite()

  async function refusedReports(key: string): Promise<void> {
    for (let index = 0; index < 9; index += 1) {
      await fetch(`${suite.ingestUrl}/api/v1/gps/submit`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          deviceId: `van-00${index % 4}`,
          latitude: 91 + index,
          longitude: 1,
        }),
      })
    }
  }

  test('every page has its picture', async () => {
    mkdirSync(folder, { recursive: true })
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
          await suite.pause(400)
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

/** Vans around three cities. */
function fleet() {
  const cities = [
    [48.21, 16.37],
    [47.07, 15.44],
    [47.8, 13.04],
  ] as const
  return Array.from({ length: 90 }, (_, index) => {
    const [latitude, longitude] = cities[index % cities.length] ?? cities[0]
    return {
      deviceId: `van-${String(index).padStart(3, '0')}`,
      latitude: latitude + Math.sin(index * 7.3) * 0.2,
      longitude: longitude + Math.cos(index * 3.1) * 0.3,
      speed: (index * 7) % 28,
      heading: (index * 47) % 360,
      battery: ((index * 13) % 100) / 100,
    }
  })
}

/** The last two hours of one of them, with a gap. */
function track() {
  return Array.from({ length: 480 }, (_, index) => ({
    deviceId: 'van-003',
    latitude: 48.2 + 0.08 * Math.sin(index / 60) + index / 9_000,
    longitude: 16.2 + 0.1 * Math.cos(index / 45) + index / 5_000,
    altitude: 180 + 40 * Math.sin(index / 50),
    speed: 8 + 7 * Math.sin(index / 20),
    heading: (index * 3) % 360,
    timestamp: new Date(
      Date.now() - (index < 200 ? 3 * 3_600_000 : 7_200_000) + index * 15_000,
    ).toISOString(),
  })).filter(({ timestamp }) => Date.parse(timestamp) < Date.now())
}
