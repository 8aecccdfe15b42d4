import type { Page } from 'playwright-core'

/** Counts clicks and key presses in the page from now on, until it is reloaded. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`(() => {
    window.pressed = 0
    addEventListener('pointerdown', ({ isTrusted }) => isTrusted && (window.pressed += 1), true)
  })()`)
  return () => page.evaluate<number>('window.pressed')
}
