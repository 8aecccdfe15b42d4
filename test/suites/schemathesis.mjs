import base from './services.mjs'

/** Requests made up from the OpenAPI documents: minutes, run by `npm run test:schemathesis`. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/schemathesis/**/*.test.ts'],
  maxWorkers: 1,
  testTimeout: 1_800_000,
}
