import base from './unit.mjs'

/** The suites that need Kafka, the schema registry or MongoDB: `npm run test:services`. */
export default {
  ...base,
  testPathIgnorePatterns: [],
  testMatch: ['**/*.services.test.ts'],
  globalSetup: '<rootDir>/test/services/before-all.mjs',
  globalTeardown: '<rootDir>/test/services/after-all.mjs',
}
