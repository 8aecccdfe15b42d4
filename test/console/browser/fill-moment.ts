import type { Locator, Page } from 'playwright-core'

/** Fills a field for a date and a time of day: `14:05` or `2:05 pm`. */
export async function fillMoment(
  scope: Page | Locator,
  label: string,
  day: string,
  time: string,
): Promise<void> {
  await scope.getByLabel(label, { exact: true }).fill(day)
  const field = scope.getByLabel(`${label}, time of day`)
  await field.fill(time)
  await field.blur()
}
