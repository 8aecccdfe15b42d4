import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

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

/** Resolves with milliseconds since the navigation once a canvas shows a device in its colour. */
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

describeConsole('the console on a phone', () => {
  const suite = consoleSuite()

  test('it can be put on the home screen', async () => {
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

  test('a shared link shows the map with its dot at street level within 3 s on a slow phone', async () => {
    const position = { deviceId: 'van', latitude: 48.2, longitude: 16.4 }
    await suite.report(position)
    const { token } = await suite.made('/shares', {
      deviceIds: ['van'],
      name: 'Delivery',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      trailMinutes: 0,
    })
    await suite.report(position)
    const page = await (await suite.open({ ...PHONE, colorScheme: 'light' })).newPage()
    await throttle(page)
    await page.goto(`${suite.url}/share#${token}`, { waitUntil: 'commit' })
    const shownAfterMs = await page.evaluate<number>(DOT_IS_THERE)
    const scale = await page.getByRole('img', { name: /^Scale: / }).getAttribute('aria-label')
    expect(scale).toMatch(/^Scale: (\d|\d\d|1\d\d) m$/)
    expect(shownAfterMs).toBeLessThan(3_000)
  })
})
