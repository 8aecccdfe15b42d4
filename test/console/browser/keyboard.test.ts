import { setTimeout } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { paintedText } from './painted.ts'
import { dayName } from './day-name.ts'

/** The map moves without animation, so that each key has its own effect. */
const CALM = { timezoneId: 'UTC', reducedMotion: 'reduce' } as const
/** A Tuesday. */
const DAY = '2026-03-10'

/** The names of keys in the help, where they are not those of the browser. */
const SHOWN: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  PageDown: 'Page Down',
  PageUp: 'Page Up',
  Escape: 'Esc',
  '-': '−',
}

describeConsole('the keyboard', () => {
  const suite = consoleSuite()

  beforeAll(async () => {
    await suite.report(
      ...Array.from({ length: 12 }, (_, index) => ({
        deviceId: `key-${String(index).padStart(2, '0')}`,
        latitude: 47,
        longitude: 10 + index / 10,
      })),
      ...Array.from({ length: 5 }, (_, index) => ({
        deviceId: 'day-1',
        latitude: 47,
        longitude: 10 + index / 10,
        speed: 10,
        timestamp: `${DAY}T10:0${index}:00Z`,
      })),
    )
  })

  /** Presses keys, and records them by the part of the page that handles them. */
  function keysOf(page: Page) {
    const pressed = new Set<string>()
    async function press(part: string, ...keys: readonly string[]): Promise<void> {
      for (const key of keys) {
        pressed.add(`${part}: ${SHOWN[key] ?? key}`)
        await page.keyboard.press(key)
      }
    }
    return { press, pressed }
  }

  /** Reads until the result has not changed for a quarter of a second, and returns it. */
  async function atRest<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const first = await read()
      await setTimeout(250)
      if ((await read()) === first) return first
    }
  }

  /** The keys of the help, in the same form. */
  async function listed(page: Page): Promise<string[]> {
    const help = page.getByRole('dialog', { name: 'Keyboard' })
    await page.keyboard.press('?')
    await help.waitFor()
    const parts = await help.getByRole('region').all()
    const found = parts.map(async (part) => {
      const title = await part.getByRole('heading').textContent()
      return (await part.locator('kbd').allTextContents()).map((key) => `${title}: ${key}`)
    })
    return (await Promise.all(found)).flat().sort()
  }

  const focused = (page: Page) =>
    page.evaluate<string>(
      '((one) => one.closest("li")?.dataset.device ?? one.ariaLabel ?? one.textContent)(document.activeElement)',
    )
  const isFocused = (page: Page, name: string) =>
    eventually(async () => (await focused(page)) === name)

  /** Waits until the map has painted the text elsewhere, and returns how far it moved. */
  async function moved(page: Page, text: string, act: () => Promise<void>) {
    const from = await paintedText(page, text)
    await act()
    let by = { x: 0, y: 0 }
    await eventually(async () => {
      const to = await paintedText(page, text)
      by = { x: (to?.x ?? 0) - (from?.x ?? 0), y: (to?.y ?? 0) - (from?.y ?? 0) }
      return Math.abs(by.x) + Math.abs(by.y) > 1
    })
    return by
  }

  test('the help of the map lists each key that works there', async () => {
    const page = await suite.signedIn('/?q=key', CALM)
    const { press, pressed } = keysOf(page)
    const card = page.getByRole('region', { name: 'Selected device' })
    await deviceRow(page, 'key-11').waitFor()

    await press('Anywhere on the page', '/')
    await isFocused(page, 'Search by name and id')
    await press('In the search', 'ArrowDown')
    for (const [key, name] of [
      ['ArrowDown', 'key-01'],
      ['ArrowUp', 'key-00'],
      ['PageDown', 'key-10'],
      ['PageUp', 'key-00'],
      ['End', 'key-11'],
      ['Home', 'key-00'],
    ] as const) {
      await press('In the list', key)
      await isFocused(page, name)
    }
    await press('In the list', 'Space')
    await page.getByText('1 selected').waitFor()
    await isFocused(page, 'key-00')
    await press('In the list', 'ArrowDown')
    await isFocused(page, 'key-01')
    await page.keyboard.press('Enter')
    await card.getByRole('heading', { name: 'key-01' }).waitFor()
    await press('Anywhere on the page', 'Escape')
    await card.waitFor({ state: 'hidden' })
    await press('Anywhere on the page', '/')
    await press('In the search', 'Enter')
    await card.getByRole('heading', { name: 'key-00' }).waitFor()

    await page.locator('.map-target').focus()
    await press('Anywhere on the page', '0')
    await eventually(async () => (await paintedText(page, 'key-05')) !== null)
    const on = (key: string) => () => press('On the map', key)
    expect((await moved(page, 'key-05', on('ArrowRight'))).x).toBeLessThan(0)
    expect((await moved(page, 'key-05', on('ArrowLeft'))).x).toBeGreaterThan(0)
    expect((await moved(page, 'key-05', on('ArrowDown'))).y).toBeLessThan(0)
    expect((await moved(page, 'key-05', on('ArrowUp'))).y).toBeGreaterThan(0)
    const scale = page.locator('.map-scale')
    const drawnScale = async () =>
      `${await scale.textContent()}, ${(await scale.boundingBox())?.width} px`
    const before = await drawnScale()
    await press('On the map', '-')
    await eventually(async () => (await drawnScale()) !== before)
    await press('On the map', '+')
    await eventually(async () => (await drawnScale()) === before)
    await press('On the map', 'n')
    await card.getByRole('heading', { name: 'key-01' }).waitFor()
    await press('On the map', 'p')
    await card.getByRole('heading', { name: 'key-00' }).waitFor()
    await press('On the map', 'w')
    await page.getByRole('heading', { name: 'Who was here?' }).waitFor()
    await page.goBack()
    await card.getByRole('heading', { name: 'key-00' }).waitFor()
    await page.locator('.map-target').focus()
    await press('On the map', 's')
    await page.getByRole('dialog', { name: '1 device at this place' }).waitFor()
    await page.keyboard.press('Escape')
    const follow = page.getByRole('button', { name: 'Follow' })
    await press('Anywhere on the page', 'f')
    await eventually(async () => (await follow.getAttribute('aria-pressed')) === 'true')
    await press('On the map', 'Enter')
    await isFocused(page, 'History and settings')

    pressed.add('Anywhere on the page: ?')
    expect(await listed(page)).toEqual([...pressed].sort())
    await press('', 'Escape')
    await isFocused(page, 'History and settings')
  })

  test('the help of a device’s page lists each key that works there', async () => {
    const page = await suite.signedIn(`/devices/day-1?day=${DAY}`, CALM)
    const { press, pressed } = keysOf(page)
    const at = (time: string) => page.getByRole('heading', { name: `At ${time}` }).waitFor()
    await at('10:04:00')
    await press('Anywhere on the page', 'ArrowLeft', 'ArrowLeft', 'ArrowRight')
    await at('10:03:00')
    await page.getByRole('slider', { name: 'Time' }).focus()
    await press('Anywhere on the page', 'ArrowLeft')
    await press('On the time slider', 'ArrowDown', 'ArrowDown', 'ArrowUp')
    await at('10:01:00')
    await page.getByLabel('Go to a time').fill('10:02:00')
    await press('In the time field', 'Enter')
    await at('10:02:00')
    await page.locator('.map-target').focus()
    const picture = () =>
      page.evaluate<string>(`document.querySelector('.track-map canvas.fleet-canvas').toDataURL()`)
    for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', '+', '-']) {
      // A pending redraw must not be mistaken for the effect of the key.
      const before = await atRest(picture)
      await press('On the map', key)
      await eventually(async () => (await picture()) !== before)
    }

    const days = page.getByRole('group', { name: 'Day' }).getByRole('listitem')
    await days.getByRole('button', { name: dayName(DAY) }).focus()
    const strip = 'In the row of days'
    await press(strip, 'ArrowLeft')
    await isFocused(page, `${dayName('2026-03-09')}: no reports`)
    await press(strip, 'ArrowRight', 'Home', 'ArrowRight')
    const second = await focused(page)
    await press(strip, 'End', 'Home', 'ArrowRight')
    expect(await focused(page)).toBe(second)

    await page.locator('.trip').first().focus()
    for (const key of ['ArrowDown', 'End', 'ArrowUp', 'Home']) {
      await press('In the list of trips', key)
      await page.locator('.trip:focus').waitFor()
    }

    const calendar = page.getByRole('button', { name: 'Calendar' })
    await calendar.press('Enter')
    const year = page.getByRole('group', { name: 'Days of 2026' })
    await year.getByRole('button', { name: dayName(DAY) }).focus()
    const cells = 'In the calendar'
    for (const [key, day] of [
      ['ArrowRight', '2026-03-17'],
      ['ArrowLeft', DAY],
      ['ArrowDown', '2026-03-11'],
      ['ArrowUp', DAY],
      ['End', '2026-12-31'],
      ['Home', '2026-01-01'],
    ] as const) {
      await press(cells, key)
      await eventually(async () => (await focused(page)).startsWith(dayName(day)))
    }
    pressed.add('Anywhere on the page: ?')
    for (const key of ['Enter', 'Space']) pressed.add(`${cells}: ${key}`)
    expect(await listed(page)).toEqual([...pressed].sort())
    await page.keyboard.press('Escape')
    await isFocused(page, 'Calendar')
    for (const [key, day] of [
      ['Enter', '2026-03-03'],
      ['Space', '2026-02-24'],
    ] as const) {
      await calendar.press('Enter')
      await year.locator('[tabindex="0"]').press('ArrowLeft')
      await press(cells, key)
      await page.waitForURL((url) => url.searchParams.get('day') === day)
    }
  })
})
