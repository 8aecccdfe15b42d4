import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

// node .ci/results.mjs FOLDER
// Prints the failed tests and steps, then the sum of the tests. FOLDER has for each suite NAME.suite and Jest's
// NAME.json, and NAME.failed for each step that failed. A suite without a result, and a step that failed without a
// failed test, count as one failure each.

const LINES = 15

const [folder] = process.argv.slice(2)
const totals = { passed: 0, failed: 0, skipped: 0 }
const names = readdirSync(folder)
  .filter((file) => /\.(suite|failed)$/.test(file))
  .map((file) => file.split('.')[0])
for (const name of new Set(names)) {
  const result = resultOf(name)
  const failed = (result.numFailedTests ?? 0) + (result.numRuntimeErrorTestSuites ?? 0)
  const isEmpty = existsSync(`${folder}/${name}.suite`) && !result.numPassedTests
  const otherwise = existsSync(`${folder}/${name}.failed`) || isEmpty
  totals.passed += result.numPassedTests ?? 0
  totals.failed += failed > 0 ? failed : Number(otherwise)
  totals.skipped += (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0)
  for (const file of result.testResults ?? []) printFailures(name, file)
  if (failed === 0 && otherwise) console.log(`\n== ${name}: failed, without a failed test`)
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0

function resultOf(name) {
  const file = `${folder}/${name}.json`
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

function printFailures(suite, { name: path, status, message, assertionResults }) {
  const tests = assertionResults.filter((one) => one.status === 'failed')
  if (status === 'failed' && tests.length === 0) {
    tests.push({ fullName: 'the whole file', failureMessages: [message] })
  }
  for (const { fullName, failureMessages } of tests) {
    const lines = stripVTControlCharacters(failureMessages.join('\n')).split('\n')
    const file = path.slice(path.lastIndexOf('/test/') + 1)
    console.log(`\n== ${suite}: ${file}: ${fullName}\n${lines.slice(0, LINES).join('\n')}`)
  }
}
