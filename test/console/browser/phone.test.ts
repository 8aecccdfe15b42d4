import { expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { quickest } from './quickest.ts'

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

/** A cheap phone in a village: as Lighthouse throttles, 1.6 Mbit/s with 150 ms, four times slower. */
async function throttle(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: (1.6 * 1024 * 1024) / 8,
    uploadThroughput: (750 * 1024) / 8,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
}

/** Resolves with the milliseconds from navigation until a canvas shows a device's colour. */
const DOT_IS_THERE = `new Promise((resolve) => {
  const online = [0x17, 0x80, 0x3f]
  const look = () => {
    const canvas = document.querySelector('.fleet-canvas')
    if (canvas !== null && canvas.width > 0) {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      for (let at = 0; at < data.length; at += 4) {
        if (online.every((part, index) => data[at + index] === part)) return resolve(performance.now())
      }
    }
    setTimeout(look, 50)
  }
  look()
})`

/** The highest and the lowest pixel of devices that are online, in the window. */
const DOTS = `(() => {
  const found = []
  for (const canvas of document.querySelectorAll('.fleet-canvas')) {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const { top, height } = canvas.getBoundingClientRect()
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === 0x17 && data[at + 1] === 0x80 && data[at + 2] === 0x3f)
        found.push(top + (Math.floor(at / 4 / canvas.width) * height) / canvas.height)
    }
  }
  return [found[0], found.at(-1)]
})()`

const SCROLLED = `document.querySelector('#content').scrollTop`

describeConsole('the console on a phone', () => {
  const suite = consoleSuite({ hasWindows: true })

  test('it can be installed on the home screen', async () => {
    const page = await suite.signedIn('/keys', PHONE)
    const devtools = await page.context().newCDPSession(page)
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
    // Contexts of tests are incognito.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
    const { url, errors } = await devtools.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const manifest = (await (await fetch(url)).json()) as {
      start_url: string
      icons: { src: string; sizes: string }[]
    }
    expect(new URL(manifest.start_url, url).href).toBe(`${suite.url}/`)
    for (const { src, sizes } of manifest.icons) {
      const icon = await fetch(new URL(src, url))
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png'])
      // The width and height in a PNG's header.
      const header = new DataView(await icon.arrayBuffer())
      expect(`${header.getUint32(16)}x${header.getUint32(20)}`).toBe(sizes)
    }
  })

  test('a shared link shows the map with its dot and the towns around it within 3 s on a slow phone', async () => {
    const position = { deviceId: 'van', latitude: 48.2, longitude: 16.4 }
    await suite.report(position)
    const { token } = await suite.made('/shares', {
      deviceIds: ['van'],
      name: 'Delivery',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      trailMinutes: 0,
    })
    await suite.report(position)
    const shownAfterMs = async () => {
      const page = await (await suite.open({ ...PHONE, colorScheme: 'light' })).newPage()
      await throttle(page)
      await page.goto(`${suite.url}/share#${token}`, { waitUntil: 'commit' })
      const afterMs = await page.evaluate<number>(DOT_IS_THERE)
      const scale = await page.getByRole('img', { name: /^Scale: / }).getAttribute('aria-label')
      // The built-in map has no more detail.
      expect(scale).toMatch(/^Scale: [25] km$/)
      return afterMs
    }
    expect(await quickest(3_000, shownAfterMs)).toBeLessThanOrEqual(3_000)
  })

  test('over a map the buttons form one column, and legend, scale and credits cover nothing', async () => {
    const from = Date.now() - 3_600_000
    const drive = Array.from({ length: 20 }, (_, index) => ({
      deviceId: 'phone-drive',
      latitude: 48.2 + index / 1_000,
      longitude: 16.4,
      speed: index,
      timestamp: new Date(from + index * 60_000).toISOString(),
    }))
    await suite.report(...drive)
    const day = new Date(from).toISOString().slice(0, 10)
    const page = await suite.signedIn(`/devices/phone-drive?day=${day}`, PHONE)
    const legend = page.getByRole('list', { name: 'Colours of the track, by speed' })
    const scale = page.getByRole('img', { name: /^Scale: / })
    const credits = page.locator('.map-credits')
    // The scale changes its length while the map moves to the track.
    await eventually(async () => {
      const [left, middle, below] = [await boxOf(legend), await boxOf(scale), await boxOf(credits)]
      return areApart(left, middle) && areApart(left, below) && areApart(middle, below)
    })
    // One line of words of 10 pixels.
    expect((await boxOf(credits)).height).toBeLessThan(24)
    const lefts = new Set()
    for (const name of ['Zoom in', 'Zoom out', 'Layers']) {
      lefts.add((await boxOf(page.getByRole('button', { name }))).x)
    }
    expect(lefts.size).toBe(1)
  })

  test('in a low window a map has all its buttons, which cover neither each other nor the scale', async () => {
    const window = { width: 640, height: 400 }
    const page = await suite.signedIn('/', { viewport: window })
    const map = await boxOf(page.locator('.map'))
    const covered = [await boxOf(page.getByRole('img', { name: /^Scale: / }))]
    for (const name of ['Zoom in', 'Zoom out', 'Fit all', 'Follow', 'Layers']) {
      const box = await boxOf(page.getByRole('button', { name, exact: true }))
      expect([name, box.y + box.height <= map.y + map.height]).toEqual([name, true])
      expect([name, covered.every((other) => areApart(box, other))]).toEqual([name, true])
      covered.push(box)
    }
    await page.getByRole('button', { name: 'Layers' }).click()
    const { y, height } = await boxOf(page.getByRole('group', { name: 'Layers' }))
    expect([y >= 0, y + height <= window.height]).toEqual([true, true])
  })

  test('the list gets the space left by its filters; one button opens them and shows how many are active', async () => {
    for (let n = 0; n < 9; n += 1) {
      await suite.report({ deviceId: `room-${n}`, latitude: 48 + n / 10, longitude: 16 })
    }
    const page = await suite.signedIn('/', PHONE)
    const list = page.getByRole('list', { name: 'Devices' })
    await deviceRow(page, 'room-1').first().waitFor()
    expect((await boxOf(list)).height).toBeGreaterThan(190)
    const filters = page.getByRole('button', { name: 'Filters' })
    expect(await page.getByRole('group', { name: 'Show only' }).isVisible()).toBe(false)
    await filters.click()
    const shown = page.getByRole('group', { name: 'Show only' })
    await shown.getByRole('button', { name: /Online/ }).click()
    await page.getByRole('button', { name: 'Filters, 1 used' }).click()
    expect(await page.getByRole('group', { name: 'Show only' }).isVisible()).toBe(false)
  })

  test('in a map that a banner makes lower, Fit all hides no device below the edge, buttons or credits', async () => {
    await suite.report({ deviceId: 'north', latitude: 49, longitude: 16 })
    await suite.report({ deviceId: 'south', latitude: 46, longitude: 16 })
    const page = await suite.signedIn('/', { ...PHONE, colorScheme: 'light' })
    for (const name of ['north', 'south']) await deviceRow(page, name).waitFor()
    await page.evaluate(`document.querySelector('.banners').style.paddingBlockStart = '120px'`)
    await suite.pause(500)
    await page.getByRole('button', { name: 'Fit all' }).click()
    await eventually(async () => {
      const [highest = NaN, lowest = NaN] = await page.evaluate<number[]>(DOTS)
      const buttons = await boxOf(page.getByRole('button', { name: 'Fit all' }))
      const credits = await boxOf(page.locator('.map-credits'))
      return highest > buttons.y + buttons.height && lowest < credits.y
    })
    const map = await boxOf(page.locator('.map'))
    const layers = await boxOf(page.getByRole('button', { name: 'Layers' }))
    expect(layers.y + layers.height).toBeLessThan(map.y + map.height)
  })

  test('a chosen device is a sheet of its own below the map', async () => {
    await suite.report({ deviceId: 'sheet', latitude: 48, longitude: 16 })
    const page = await suite.signedIn('/?device=sheet', PHONE)
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.waitFor()
    expect(await page.getByRole('searchbox').count()).toBe(0)
    expect((await boxOf(page.locator('.map'))).height).toBeGreaterThan(250)
    await card.getByRole('button', { name: 'Deselect' }).click()
    await page.getByRole('searchbox').waitFor()
  })

  test('on a device’s page the map stays in sight while the rest scrolls, so a chosen trip is visible', async () => {
    const from = Date.now() - 2 * 3_600_000
    const day = new Date(from).toISOString().slice(0, 10)
    await suite.report(
      ...Array.from({ length: 60 }, (_, index) => ({
        deviceId: 'stays',
        latitude: 48.2 + Math.min(index, 30) / 1_000,
        longitude: 16.4,
        timestamp: new Date(from + index * 60_000).toISOString(),
      })),
    )
    const page = await suite.signedIn(`/devices/stays?from=${day}&to=${day}`, PHONE)
    const map = page.locator('.track-map')
    await map.waitFor()
    const before = await boxOf(map)
    expect(Math.round(before.height)).toBe(Math.round(0.4 * PHONE.viewport.height))
    await page.evaluate(`document.querySelector('.banners').append(document.createElement('hr'))`)
    expect((await boxOf(map)).height).toBe(before.height)
    await page.mouse.move(180, 600)
    await page.mouse.wheel(0, 900)
    await eventually(async () => (await page.evaluate<number>(SCROLLED)) > 300)
    const after = await boxOf(map)
    expect([after.y, after.height]).toEqual([
      (await boxOf(page.locator('#content'))).y,
      before.height,
    ])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    expect(await accessFaults(page)).toEqual([])
  })

  test('the menu of a card is beside its name, and folded filters leave no gap below', async () => {
    await suite.made('/keys', { name: 'Phone' })
    const page = await suite.signedIn('/keys', PHONE)
    const card = page.getByRole('row').filter({ hasText: 'Phone' })
    const menu = await boxOf(card.getByRole('button', { name: 'Actions' }))
    const name = await boxOf(card.getByRole('link', { name: 'Phone' }))
    expect(Math.abs(menu.y + menu.height / 2 - name.y - name.height / 2)).toBeLessThan(6)
    expect(menu.x).toBeGreaterThan(name.x + name.width)
    await page.goto(`${suite.url}/rejections`)
    await page.getByText('No rejections in').waitFor()
    const filters = await boxOf(page.locator('.filter-fold'))
    expect(filters.height).toBeLessThan(60)
  })
})

async function boxOf(part: Locator) {
  await part.waitFor()
  return (await part.boundingBox()) ?? { x: NaN, y: NaN, width: NaN, height: NaN }
}

type Box = Awaited<ReturnType<typeof boxOf>>

function areApart(one: Box, other: Box): boolean {
  return (
    one.x + one.width <= other.x + 0.5 ||
    other.x + other.width <= one.x + 0.5 ||
    one.y + one.height <= other.y + 0.5 ||
    other.y + other.height <= one.y + 0.5
  )
}
