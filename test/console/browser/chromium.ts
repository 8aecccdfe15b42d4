import { describe } from '@jest/globals'
import { chromiumPath } from './launch-chromium.ts'

/**
 * As `describe`, for tests that need a browser: without one they are skipped with one line that says
 * so, except in CI (REQUIRE_SERVICES=1).
 */
export function describeConsole(name: string, tests: () => void): void {
  if (chromiumPath !== undefined) return void describe(name, tests)
  if (process.env['REQUIRE_SERVICES'] === '1') {
    throw new Error('the console is tested with chromium: apt-get install chromium')
  }
  process.stderr.write('not tested: the console, because there is no chromium\n')
  describe.skip(name, tests)
}
