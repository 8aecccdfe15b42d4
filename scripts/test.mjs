import { spawnSync } from 'node:child_process'
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

const SUITES = ['unit', 'long', 'services', 'faults', 'console', 'compose', 'schemathesis']

// npm test -- [SUITE] [argument of Jest ...]; see test/suites/jest.config.mjs.
const args = process.argv.slice(2)
const suite = SUITES.includes(args[0]) ? args[0] : 'unit'
const rest = args[0] === suite ? args.slice(1) : args
// If an option is repeated, Jest uses the first.
const isGiven = (option) => rest.some((one) => one.split('=')[0] === option.split('=')[0])
const options = (OPTIONS[suite] ?? []).filter((option) => !isGiven(option))
const { status } = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url)),
    `--selectProjects=${suite}`,
    '--config=test/suites/jest.config.mjs',
    ...options,
    ...rest,
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
