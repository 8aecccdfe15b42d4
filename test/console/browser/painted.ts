import type { Page } from 'playwright-core'

/** Where a text was painted last, on the canvas, and when (`performance.now()` of the page). */
export type Painted = { readonly x: number; readonly y: number; readonly at: number }

/** Runs in a page before its own scripts: records where texts are painted, as `window.painted`. */
export const KEEP_PAINTED = `
window.painted = new Map()
const fillText = CanvasRenderingContext2D.prototype.fillText
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const before = painted.get(text)
  if (before?.x !== x || before.y !== y) painted.set(text, { x, y, at: performance.now() })
  return fillText.call(this, text, x, y, ...rest)
}`

/** The plain text, or as a device's label, which is isolated. */
export function paintedText(page: Page, text: string): Promise<Painted | null> {
  const names = JSON.stringify([text, `\u2068${text}\u2069`])
  return page.evaluate(`${names}.map((name) => painted.get(name)).find(Boolean) ?? null`)
}
