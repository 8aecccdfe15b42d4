import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Jest options of a suite that can only be set on the command line, not in its project. */
const OPTIONS = {
  // With `=`: otherwise Jest would take the following test paths for reporters.
  faults: [
    '--reporters=default',
    '--reporters=./test/faults/table-reporter.mjs',
    '--maxWorkers=1',
    '--testTimeout=900000',
  ],
  // One browser and one server already keep a machine busy.
  console: ['--maxWorkers=1'],
  compose: ['--maxWorkers=1', '--testTimeout=300000'],
  schemathesis: ['--maxWorkers=1', '--testTimeout=1800000'],
}

/** Suites that promise nothing about a disk: their temporary files are in memory, if they fit there. */
const IN_MEMORY = ['unit', 'services', 'console']
const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const ENOUGH_BYTES = 4_000_000_000

const SUITES = ['unit', 'long', 'services', 'faults', 'console', 'compose', 'schemathesis']

// npm test -- [SUITE] [argument of Jest ...]; see test/suites/jest.config.mjs.
const args = process.argv.slice(2)
const suite = SUITES.includes(args[0]) ? args[0] : 'unit'
const rest = args[0] === suite ? args.slice(1) : args
// If an option is repeated, Jest uses the first.
const isGiven = (option) => rest.some((one) => one.split('=')[0] === option.split('=')[0])
const options = (OPTIONS[suite] ?? []).filter((option) => !isGiven(option))
// Ctrl-C also ends Jest, after which the directory is removed.
process.on('SIGINT', () => undefined)
const memory = IN_MEMORY.includes(suite) ? directoryInMemory() : undefined
const { status } = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url)),
    `--selectProjects=${suite}`,
    '--config=test/suites/jest.config.mjs',
    // Where Jest puts it by default, if temporary files are not in memory.
    `--cacheDirectory=${join(tmpdir(), 'jest-of-gps')}`,
    ...options,
    ...rest,
  ],
  { stdio: 'inherit', env: { ...process.env, ...(memory && { TMPDIR: memory }) } },
)
if (memory) rmSync(memory, { recursive: true, force: true })
process.exitCode = status ?? 1

/** A new directory in memory; undefined if there is too little, or if programs may not run from it. */
function directoryInMemory() {
  let directory
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY)
    if (type !== TMPFS || bavail * bsize < ENOUGH_BYTES) return undefined
    directory = mkdtempSync(join(MEMORY, 'gps-tests-'))
    copyFileSync('/bin/true', join(directory, 'true'))
    if (spawnSync(join(directory, 'true')).status === 0) return directory
  } catch {
    // Not Linux, or a full memory: the disk serves.
  }
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
  return undefined
}
