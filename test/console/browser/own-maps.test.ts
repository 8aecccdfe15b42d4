import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { MIDDLE } from '../town/plane.ts'
import { town } from '../town/town.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { paintedText } from './painted.ts'

describeConsole('a map of streets that the service has itself', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  beforeAll(async () => {
    directory = await temporaryDirectory()
    await writeFile(join(directory.path, 'town.pmtiles'), town())
  })
  afterAll(() => directory.remove())
  const suite = consoleSuite({
    env: () => ({ MAP_PMTILES: `Town=${join(directory.path, 'town.pmtiles')}` }),
  })

  test('streets and their names are drawn without being chosen, with the credit in their file', async () => {
    await suite.report({ deviceId: 'van-1', ...MIDDLE })
    await suite.report({ deviceId: 'van-2', ...MIDDLE, latitude: MIDDLE.latitude + 0.02 })
    const page = await suite.signedIn()
    await page.getByText('A town that does not exist').waitFor()
    await eventually(async () => (await paintedText(page, 'Musterstadt')) !== null)
    await page.getByRole('button', { name: 'Layers' }).click()
    expect(await page.getByRole('radio', { name: 'Town' }).isChecked()).toBe(true)
    expect(await page.getByText('sees which area you look at').count()).toBe(1)
    await page.getByRole('radio', { name: 'World (offline)' }).check()
    await page.getByText('A town that does not exist').waitFor({ state: 'hidden' })
  })
})
