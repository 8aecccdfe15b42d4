import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The colours and widths in which a page looks different. */
export const LOOKS = [
  ['light', 390],
  ['dark', 390],
  ['light', 1_024],
  ['dark', 1_400],
] as const
export const PHONE_LOOKS = LOOKS.slice(0, 2)

/** The faults that axe finds in a page once its heading stands, as `rule: element`. */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`)
}

/** The same in each of these looks, which the page follows, and where it is wider than the screen. */
export async function faultsInLooks(
  page: Page,
  looks: readonly (typeof LOOKS)[number][] = LOOKS,
): Promise<string[]> {
  const found: string[] = []
  for (const [colorScheme, width] of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const faults = await accessFaults(page)
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (wide !== width) faults.push(`is ${wide} px wide`)
    found.push(...faults.map((fault) => `${colorScheme}, ${width} px: ${fault}`))
  }
  return found
}
