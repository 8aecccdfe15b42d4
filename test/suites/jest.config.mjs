/**
 * All suites, one project each: `npm test -- NAME` selects one, `npm test` the first
 * (`scripts/test.mjs`). A file's name or folder determines its suite.
 */
const common = {
  rootDir: '.',
  roots: ['<rootDir>/test'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/suites/transform.mjs' },
  setupFilesAfterEnv: ['<rootDir>/test/suites/end-programs.ts'],
}

const withServers = {
  ...common,
  globalSetup: '<rootDir>/test/services/before-all.mjs',
  globalTeardown: '<rootDir>/test/services/after-all.mjs',
}

/** @type {import('jest').Config} */
export default {
  rootDir: '../..',
  testSequencer: '<rootDir>/test/suites/slowest-first.mjs',
  // Much of the time is spent waiting for the disk, a time limit or a program's start.
  maxWorkers: 3,
  // A worker holds the modules of all its files, and takes seconds to free them on a busy machine.
  workerIdleMemoryLimit: '800MB',
  // A worker that takes longer to end has open resources, even on a slow machine.
  workerGracefulExitTimeout: 60_000,
  // Long enough for a busy machine, and short enough to notice a hang.
  testTimeout: 300_000,
  projects: [
    {
      ...common,
      // Tests that need only Node.
      displayName: 'unit',
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: [
        '\\.(services|long)\\.test\\.ts$',
        '/test/compose/',
        '/test/console/browser/',
        '/test/faults/',
        '/test/schemathesis/',
      ],
    },
    {
      ...common,
      // Tests that need only Node and keep the processor busy for long, such as builds and loads.
      displayName: 'long',
      testMatch: ['**/*.long.test.ts'],
    },
    {
      ...withServers,
      // Tests that need Kafka, the schema registry or MongoDB.
      displayName: 'services',
      testMatch: ['**/*.services.test.ts'],
    },
    {
      ...withServers,
      // Kills, outages and overload, with real servers.
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
    },
    {
      ...common,
      // The console in headless Chromium, against the real embedded server.
      displayName: 'console',
      testMatch: ['<rootDir>/test/console/browser/**/*.test.ts'],
    },
    {
      ...withServers,
      // The containers, built and brought up for real.
      displayName: 'compose',
      testMatch: ['<rootDir>/test/compose/**/*.test.ts'],
    },
    {
      ...withServers,
      // Requests generated from the OpenAPI documents.
      displayName: 'schemathesis',
      testMatch: ['<rootDir>/test/schemathesis/**/*.test.ts'],
    },
  ],
}
