// State of one run of jest: a folder that its workers share, where the first suite that needs a
// server records what it started, and skipped suites are recorded.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const FOLDER = 'TEST_SERVICES_FOLDER'
const OWNER = 'TEST_SERVICES_OWNER'

/** Called once, before any suite; the workers inherit the environment. */
export function beginTestRun() {
  process.env[FOLDER] = mkdtempSync(join(tmpdir(), 'gps-test-services-'))
  process.env[OWNER] = String(process.pid)
}

/** Called once, after every suite: stops the servers, then reports the skipped suites. */
export async function endTestRun() {
  const folder = process.env[FOLDER]
  const entries = readdirSync(folder)
  await Promise.all(
    entries
      .filter((name) => name.endsWith('.server.json'))
      .map((name) => stop(JSON.parse(readFileSync(join(folder, name), 'utf8')))),
  )
  const skipped = entries
    .filter((name) => name.endsWith('.skipped.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  rmSync(folder, { recursive: true, force: true })
  if (skipped.length > 0) process.stderr.write(`${whatWasSkipped(skipped)}\n`)
}

async function stop({ guardPid: pid }) {
  if (pid === undefined) return
  try {
    // A shared server's data is discarded anyway.
    process.kill(pid, 'SIGUSR2')
    const deadline = Date.now() + 10_000
    while (Date.now() < deadline) {
      process.kill(pid, 0)
      await pause(20)
    }
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function whatWasSkipped(skipped) {
  const suites = [...new Set(skipped.map(({ suite }) => suite))].sort()
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].sort()
  return `Not tested: ${suites.join('; ')} (${reasons.join('; ')})`
}
