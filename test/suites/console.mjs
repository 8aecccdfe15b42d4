import base from './unit.mjs'

/** The console in headless Chromium, against the real embedded server: `npm run test:console`. */
export default {
  ...base,
  testPathIgnorePatterns: [],
  testMatch: ['<rootDir>/test/console/browser/**/*.test.ts'],
  // A browser and a server are a machine's work.
  maxWorkers: 1,
}
