import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

describeConsole('a row of the list', () => {
  const suite = consoleSuite()

  const styleOf = (page: Page, selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element: unknown) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle: (of: unknown) => Record<string, string>
        }
        const style = getComputedStyle(element)
        return [style['fontSize'], style['fontWeight'], style['fontVariantNumeric']]
      })

  test('is a sentence 52 px high: full name, age to the right, and the device’s state below', async () => {
    const name = 'Service Berlin-Mitte, spare vehicle'
    await suite.report({ deviceId: 'row-1', latitude: 52.5, longitude: 13.4, speed: 8.6 })
    await eventually(async () => (await suite.call('GET', '/devices/row-1')).status === 200)
    await suite.call('PATCH', '/devices/row-1', { name })
    const page = await suite.signedIn('/?q=spare')
    const row = deviceRow(page, name)
    await row.getByText(/^Moving 31 km\/h · \S/).waitFor()
    const box = await row.boundingBox()
    expect(box?.height).toBe(52)
    expect(await row.textContent()).not.toContain('row-1')
    expect(await styleOf(page, '.device-row .device-name')).toEqual(['14px', '500', 'tabular-nums'])
    expect(await styleOf(page, '.device-row .device-age')).toEqual(['12px', '400', 'tabular-nums'])
    const age = await row.locator('.device-age').boundingBox()
    expect((age?.x ?? 0) + (age?.width ?? 0)).toBe((box?.x ?? 0) + (box?.width ?? 0) - 12)
    // The name is not truncated.
    const [inner, outer] = await row
      .locator('.device-name .text')
      .evaluate((text: { scrollWidth: number; clientWidth: number }) => [
        text.scrollWidth,
        text.clientWidth,
      ])
    expect(inner).toBe(outer)
  })

  test('has amber text only for exceptions', async () => {
    await suite.report(
      { deviceId: 'amber low', latitude: 52.5, longitude: 13.4, speed: 8.6, battery: 0.08 },
      { deviceId: 'amber full', latitude: 52.5, longitude: 13.4, speed: 8.6, battery: 0.8 },
    )
    const page = await suite.signedIn('/?q=amber')
    await deviceRow(page, 'amber low').getByText('Battery 8 %').waitFor()
    expect(await page.locator('.device-row .exception').allTextContents()).toEqual(['Battery 8 %'])
    const colour = await page
      .locator('.exception')
      .evaluate(
        (element: unknown) =>
          (
            globalThis as never as { getComputedStyle(of: unknown): { color: string } }
          ).getComputedStyle(element).color,
      )
    expect(colour).toBe('rgb(133, 85, 0)')
  })

  test('opens the chosen device’s card, whose buttons are on a phone’s screen', async () => {
    await suite.report({ deviceId: 'on-phone', latitude: 52.5, longitude: 13.4, battery: 0.5 })
    const viewport = { width: 390, height: 844 }
    const page = await suite.signedIn('/?device=on-phone', {
      viewport,
      isMobile: true,
      hasTouch: true,
    })
    const card = page.getByRole('region', { name: 'Selected device' })
    const link = card.getByRole('link', { name: 'History and settings' })
    await link.waitFor()
    const box = await link.boundingBox()
    const bar = await page.locator('header.bar').boundingBox()
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0)
  })
})
