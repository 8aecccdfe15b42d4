import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Jest options of a suite that can be set for a run only, not in its project. */
const OPTIONS = {
  // With `=`: Jest would take the test paths that come next for reporters.
  faults: [
    '--reporters=default',
    '--reporters=./test/faults/table-reporter.mjs',
    '--maxWorkers=1',
    '--testTimeout=900000',
  ],
  // A browser and a server keep a machine busy.
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
