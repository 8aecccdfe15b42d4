import { createRequire } from 'node:module'

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer')

/** Tests that start programs. */
const SLOW = /\/test\/(bench|end-to-end|embedded|model|scripts|commands)\//

/** Where nothing has been run before, as in CI, the files that take longest do not come last. */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    if (tests.some(({ duration }) => duration !== undefined)) return sorted
    const isSlow = ({ path }) => SLOW.test(path)
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))]
  }
}
