import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The faults that axe finds in a page once its heading stands, as `rule: element`. */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`)
}
