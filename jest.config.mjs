/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/test/compose/', '/test/faults/', '/test/schemathesis/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: 'tsconfig.json', transpilation: true }],
  },
  globalSetup: '<rootDir>/test/services/before-all.mjs',
  globalTeardown: '<rootDir>/test/services/after-all.mjs',
  testTimeout: 20_000,
}
