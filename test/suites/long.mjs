import base from './unit.mjs'

/** What needs nothing but Node and takes the processor for long: `npm run test:long`. */
export default {
  ...base,
  testPathIgnorePatterns: [],
  testMatch: ['**/*.long.test.ts'],
}
