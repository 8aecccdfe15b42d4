import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { paintedText } from './painted.ts'

describeConsole('the list of devices', () => {
  const suite = consoleSuite()

  describe('finding a device', () => {
    const search = (page: Page) => page.getByRole('searchbox', { name: 'Search' })
    const card = (page: Page) => page.getByRole('region', { name: 'Selected device' })

    beforeAll(async () => {
      await suite.report(
        ...Array.from({ length: 60 }, (_, index) => ({
          deviceId: `van-${String(index).padStart(2, '0')}`,
          latitude: 47 + (index % 10) / 5,
          longitude: 15 + Math.floor(index / 10) / 5,
          speed: index,
        })),
      )
    })

    test('finding a van takes one click and typing, and the map flies there', async () => {
      const page = await suite.signedIn()
      await deviceRow(page, 'van-00').waitFor()
      const clicks = await countClicks(page)
      await search(page).click()
      await page.keyboard.type('van 7')
      await deviceRow(page, 'van-07').waitFor()
      await deviceRow(page, 'van-08').waitFor({ state: 'hidden' })
      const first = page.getByRole('list', { name: 'Devices' }).getByRole('listitem').first()
      expect(await first.textContent()).toContain('van-07')
      await page.keyboard.press('Enter')
      await card(page).getByRole('heading', { name: 'van-07' }).waitFor()
      await eventually(() => inTheMiddle(page, 'van-07'))
      expect(await clicks()).toBe(1)
      await scale(page, '5 km').waitFor()
    })

    test('the map flies to a device chosen in the list, showing the towns around it, or stays as close as it was', async () => {
      const page = await suite.signedIn('/?q=van')
      await deviceRow(page, 'van-05').getByRole('button').click()
      await eventually(() => inTheMiddle(page, 'van-05'))
      await scale(page, '5 km').waitFor()
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await scale(page, '2 km').waitFor()
      await deviceRow(page, 'van-04').getByRole('button').click()
      await eventually(() => inTheMiddle(page, 'van-04'))
      expect(await scale(page, '2 km').isVisible()).toBe(true)
    })

    /** The scale of the map: 5 km at zoom 11, which shows all that the built-in map has, 2 km at zoom 12. */
    function scale(page: Page, text: string) {
      return page.getByRole('img', { name: `Scale: ${text}`, exact: true })
    }

    async function inTheMiddle(page: Page, name: string): Promise<boolean> {
      const painted = await paintedText(page, name)
      const map = await page.locator('.map-target').boundingBox()
      if (painted === null || map === null) return false
      return Math.abs(painted.x - map.width / 2) < 40 && Math.abs(painted.y - map.height / 2) < 40
    }

    test('arrow keys lead from the search into the list, and Enter chooses there', async () => {
      const page = await suite.signedIn()
      await deviceRow(page, 'van-00').waitFor()
      await search(page).focus()
      await page.keyboard.type('van')
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) {
        await page.keyboard.press(key)
      }
      await card(page).getByRole('heading', { name: 'van-02' }).waitFor()
    })

    test('the list is a single Tab stop, at the last focused row', async () => {
      const page = await suite.signedIn('/?q=van&sort=name')
      await deviceRow(page, 'van-05').waitFor()
      const isAt = (selector: string) =>
        page.evaluate<boolean>(`document.activeElement.closest('${selector}') !== null`)
      async function pressesTo(selector: string, key: string): Promise<number> {
        let presses = 0
        do await page.keyboard.press(key)
        while ((presses += 1) < 50 && !(await isAt(selector)))
        return presses
      }
      await search(page).focus()
      await pressesTo('.device-list', 'Tab')
      expect(await pressesTo('.map-target', 'Tab')).toBeLessThanOrEqual(6)

      await pressesTo('.device-list', 'Shift+Tab')
      for (const key of ['End', 'ArrowUp', 'Space']) await page.keyboard.press(key)
      const row = deviceRow(page, 'van-58')
      await page.getByText('1 selected').waitFor()
      expect(await row.getByRole('checkbox').isChecked()).toBe(true)
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Space')
      await page.getByText('0 selected').waitFor()
      expect(await row.getByRole('checkbox').isChecked()).toBe(false)
      expect(await pressesTo('.map-target', 'Tab')).toBeLessThanOrEqual(6)
      // Up to three places that match are between.
      expect(await pressesTo('[data-device="van-58"]', 'Shift+Tab')).toBeLessThanOrEqual(4)
    })

    test('the counts above the list cover the search results', async () => {
      await suite.report({ deviceId: 'lorry-1', latitude: 40, longitude: 10 })
      const page = await suite.signedIn('/?q=lorry')
      const online = page.getByRole('button', { name: 'Online' })
      await online.getByText('1', { exact: true }).waitFor()
      await search(page).fill('van 1')
      await online.getByText('15', { exact: true }).waitFor()
    })

    async function isInView(page: Page, name: string): Promise<boolean> {
      const row = await deviceRow(page, name).boundingBox()
      const list = await page.getByRole('list', { name: 'Devices' }).boundingBox()
      if (row === null || list === null) return false
      return row.y >= list.y - 1 && row.y + row.height <= list.y + list.height + 1
    }

    test('the chosen row stays in view when the list gets shorter, unless it was scrolled out', async () => {
      const page = await suite.signedIn('/?q=van&sort=name&device=van-33')
      await eventually(() => isInView(page, 'van-33'))
      // Found towns make the list shorter too.
      await page.getByRole('region', { name: 'Places' }).waitFor()
      const list = `document.querySelector('.device-list')`
      const shorter = (pixels: number) =>
        page.evaluate(`${list}.style.maxHeight = (${list}.clientHeight - ${pixels}) + 'px'`)
      await shorter(90)
      await eventually(() => isInView(page, 'van-33'))
      await page.evaluate(`${list}.scrollTop = 0`)
      await eventually(async () => !(await isInView(page, 'van-33')))
      await shorter(60)
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
      expect(await page.evaluate(`${list}.scrollTop`)).toBe(0)
    })

    test('Back keeps search, sort and filter, and the chosen row is in view', async () => {
      const page = await suite.signedIn('/?q=van&sort=-motion&status=online')
      await deviceRow(page, 'van-59').waitFor()
      await page.evaluate(`document.querySelector('.device-list').scrollTop = 1200`)
      await deviceRow(page, 'van-33').getByRole('button').click()
      await card(page).getByRole('link', { name: 'History and settings' }).click()
      for (const back of ['arrow of the page', 'arrow of the browser']) {
        await page.getByRole('heading', { name: 'van-33' }).first().waitFor()
        if (back === 'arrow of the browser') await page.goBack()
        else await page.getByRole('link', { name: 'To the map' }).click()
        await page.waitForURL(/\/\?q=van&sort=-motion&status=online&device=van-33$/)
        await eventually(() => isInView(page, 'van-33'))
        if (back === 'arrow of the page') await page.goBack()
      }
    })

    test('a list under a resting pointer is sorted again', async () => {
      await suite.report(
        { deviceId: 'rest-a', latitude: 1, longitude: 1, speed: 20 },
        { deviceId: 'rest-b', latitude: 1, longitude: 1, speed: 10 },
      )
      const page = await suite.signedIn('/?q=rest&sort=-motion')
      const first = () => page.getByRole('list', { name: 'Devices' }).locator('[data-index="0"]')
      await deviceRow(page, 'rest-a').getByRole('button').click()
      expect(await first().textContent()).toContain('rest-a')
      await suite.report({ deviceId: 'rest-b', latitude: 1, longitude: 1, speed: 30 })
      // The pointer has not moved away, and the row that it clicked has the focus.
      await eventually(async () => (await first().textContent())?.includes('rest-b'))
      expect(await page.evaluate('document.activeElement.textContent')).toContain('rest-a')
    })
  })

  describe('a row of the list', () => {
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
      expect(await styleOf(page, '.device-row .device-name')).toEqual([
        '14px',
        '500',
        'tabular-nums',
      ])
      expect(await styleOf(page, '.device-row .device-age')).toEqual([
        '12px',
        '400',
        'tabular-nums',
      ])
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
      expect(await page.locator('.device-row .exception').allTextContents()).toEqual([
        'Battery 8 %',
      ])
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
})
