import { afterAll, expect, test } from '@jest/globals'
import { standInService } from '../../client/stand-in-service.ts'
import { startProgram } from '../../programs.ts'
import { endPrograms } from '../../running-programs.ts'
import { madeRecords } from './made-records.ts'

afterAll(endPrograms)

/** 90 MB. */
const LOCATIONS = 200_000
const MOST_MEMORY_MB = 250

/** Makes a process print its peak memory in kilobytes. */
const TELLS_MEMORY = `--import data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => console.log('peak', process.resourceUsage().maxRSS))",
)}`

test('memory use does not grow with the length of a piped file', async () => {
  let received = 0
  const { url } = await standInService(({ body }) => {
    const { reports } = JSON.parse(body) as { reports: unknown[] }
    received += reports.length
    const results = reports.map((_, index) => ({ index, recordId: 'r', receivedAt: 'now' }))
    return { status: 200, data: { data: { results } } }
  })
  const { ended, output } = startProgram('commands/import/main', {
    args: ['--url', url.href, '--device', 'phone', '-'],
    env: { GPS_KEY: 'key', NODE_OPTIONS: TELLS_MEMORY },
    input: madeRecords(LOCATIONS),
  })
  expect(await ended).toBe(0)
  expect(received).toBe(LOCATIONS)
  expect(output()).toContain('accepted: 200,000')
  const peakMb = Number(/peak (\d+)/.exec(output())?.[1]) / 1024
  expect(peakMb).toBeLessThan(MOST_MEMORY_MB)
})
