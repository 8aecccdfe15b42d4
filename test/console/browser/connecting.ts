import type { Page } from 'playwright-core'
import { follow, type ConsoleSuite } from './console-harness.ts'

/** The page "Connect a device" with a device, its name and its key. */
export async function connecting(
  suite: ConsoleSuite,
  deviceId: string,
  sender = 'curl',
): Promise<Page> {
  const page = await suite.signedIn()
  await follow(page, 'Connect a device')
  await page.getByLabel(sender, { exact: true }).check()
  await nameWithId(page, deviceId)
  await page.getByRole('button', { name: 'Create a key' }).click()
  await secretOf(page)
  return page
}

/** Gives the device a name, and the same text as its id. */
export async function nameWithId(page: Page, deviceId: string): Promise<void> {
  await page.getByLabel('What is it called?').fill(deviceId)
  await page.getByRole('button', { name: 'Change the device id' }).click()
  await page.getByRole('textbox', { name: 'Device id' }).fill(deviceId)
}

/** The secret that the page shows. */
export function secretOf(page: Page): Promise<string> {
  return page.getByRole('textbox', { name: 'API key' }).inputValue()
}
