import base from './services.mjs'

/** The containers, built and brought up for real: minutes, run by `npm run test:compose`. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/compose/**/*.test.ts'],
  maxWorkers: 1,
  testTimeout: 300_000,
}
