import axe from 'axe-core'
import type { Page } from 'playwright-core'

type Look = readonly [scheme: 'light' | 'dark', width: number]

/** A phone and a desktop, by day and by night. */
const LOOKS: readonly Look[] = [
  ['light', 390],
  ['dark', 390],
  ['dark', 1_400],
  ['light', 1_400],
]

/** A phone by day and by night. */
export const ON_PHONE = LOOKS.slice(0, 2)

/** The faults that axe finds in a page once its heading stands, as `rule: element`. */
export function accessFaults(page: Page): Promise<string[]> {
  return faultsByRules(page, {})
}

async function faultsByRules(page: Page, rules: object): Promise<string[]> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  if (await page.evaluate<boolean>(`!('axe' in window)`)) await page.evaluate(axe.source)
  return page.evaluate(`axe.run(document, ${JSON.stringify({ ...rules, resultTypes: ['violations'] })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`)
}

/**
 * The faults of a page that is not reloaded in each look: those of axe, and what scrolls sideways, as
 * `light, 390 px: rule: element`.
 */
export async function faultsInLooks(page: Page, looks = LOOKS): Promise<string[]> {
  const found: string[] = []
  let before = 0
  for (const [colorScheme, width] of looks) {
    // At the same width only colours differ.
    const rules = width === before ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}
    before = width
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const wide = await page.evaluate<string[]>(
      `['html', '#content'].filter((one) => {
        const { scrollWidth = 0, clientWidth = 0 } = document.querySelector(one) ?? {}
        return scrollWidth > clientWidth
      })`,
    )
    const faults = [
      ...(await faultsByRules(page, rules)),
      ...wide.map((one) => `${one} scrolls sideways`),
    ]
    found.push(...faults.map((fault) => `${colorScheme}, ${width} px: ${fault}`))
  }
  return found
}
