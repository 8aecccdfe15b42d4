import type { Page } from 'playwright-core'

/** Counts what a person presses in the page from now on, as long as it is not loaded again. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`(() => {
    window.pressed = 0
    addEventListener('pointerdown', ({ isTrusted }) => isTrusted && (window.pressed += 1), true)
  })()`)
  return () => page.evaluate<number>('window.pressed')
}
