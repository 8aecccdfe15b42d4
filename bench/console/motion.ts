import type { Page } from 'playwright-core'

const MIDDLE = { x: 820, y: 400 }
const PIXELS = 250
const WHEEL_EVERY_MS = 60

/** Drags the map in circles. */
export async function drag({ mouse }: Page, ms: number): Promise<void> {
  const at = (turn: number) =>
    [MIDDLE.x + PIXELS * Math.cos(turn), MIDDLE.y + PIXELS * Math.sin(turn)] as const
  await mouse.move(...at(0))
  await mouse.down()
  const begun = performance.now()
  for (let spent = 0; spent < ms; spent = performance.now() - begun) {
    // Resolves when the page has handled it, so moves come as fast as frames.
    await mouse.move(...at((spent / 1_500) * Math.PI))
  }
  await mouse.up()
}

/** Zooms in and out again with the wheel. */
export async function wheel(page: Page, ms: number): Promise<void> {
  await page.mouse.move(MIDDLE.x, MIDDLE.y)
  const begun = performance.now()
  for (let step = 0; performance.now() - begun < ms; step += 1) {
    await page.mouse.wheel(0, step % 40 < 20 ? -60 : 60)
    await page.waitForTimeout(WHEEL_EVERY_MS)
  }
}
