import base from './services.mjs'

/** The fault suites: slow by nature, one at a time, run by `npm run test:faults`. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
  maxWorkers: 1,
  reporters: ['default', '<rootDir>/test/faults/table-reporter.mjs'],
  testTimeout: 900_000,
}
