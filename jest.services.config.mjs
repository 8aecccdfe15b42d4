import base from './jest.config.mjs'

/** The suites that need Kafka, the schema registry or MongoDB: `npm run test:services`. */
export default {
  ...base,
  testPathIgnorePatterns: [],
  testMatch: ['**/*.services.test.ts'],
  // The servers share the machine with the tests; a hang is told apart from that all the same.
  testTimeout: 60_000,
  globalSetup: '<rootDir>/test/services/before-all.mjs',
  globalTeardown: '<rootDir>/test/services/after-all.mjs',
}
