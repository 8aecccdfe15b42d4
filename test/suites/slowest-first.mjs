import { createRequire } from 'node:module'

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer')

/** The longest-running files of their suites, and folders of tests that start programs. */
const SLOW = [
  'store/mongo/contract.services',
  'store/sqlite/sqlite-store.test',
  'event-log/kafka/feeds.services',
  'event-log/kafka/kafka-event-log.services',
  'admin-api/access.test',
  'admin-api/devices/trips/read-trips',
  'admin-api/http/rule.test',
  'console/browser/all-pages',
  'console/browser/live.test',
  'console/browser/notifications',
  'faults/alerts',
  'faults/distributed',
  'faults/spool',
  'bench/',
  'end-to-end/',
  'embedded/',
  'model/',
  'scripts/',
  'commands/',
]

/** Without timings from earlier runs, as in CI, the longest-running files do not come last. */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    if (tests.some(({ duration }) => duration !== undefined)) return sorted
    const isSlow = ({ path }) => SLOW.some((part) => path.includes(`/test/${part}`))
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))]
  }
}
