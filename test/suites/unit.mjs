/**
 * What needs nothing but Node. Suites that need servers are called `*.services.test.ts`, those that
 * take the processor for long, such as builds and loads, `*.long.test.ts`.
 * @type {import('jest').Config}
 */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '\\.(services|long)\\.test\\.ts$',
    '/test/compose/',
    '/test/console/browser/',
    '/test/faults/',
    '/test/schemathesis/',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/scripts/javascript.mjs' },
  testSequencer: '<rootDir>/test/suites/slowest-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/suites/end-programs.ts'],
  // Much of the time is spent waiting: for the disk, for a limit to pass, for a program to start.
  maxWorkers: 3,
  // A worker keeps modules of all its files: at two gigabytes it takes longer to end than jest waits.
  workerIdleMemoryLimit: '800MB',
  // Long, for a machine that does other things too; a hang is told apart from that all the same.
  testTimeout: 120_000,
}
