import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startGuard } from './guard.ts'

describe('a guard over a test server', () => {
  test('ends the server and removes its data when the test run was killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gps-test-guard-'))
    const run = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const { server, guard } = await startServer({ owner: run.pid!, folder })
    run.kill('SIGKILL')
    await guard.ended
    expect(lives(server)).toBe(false)
    expect(existsSync(folder)).toBe(false)
  })

  test('kills the server when it is asked to, and leaves the data for the next start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gps-test-guard-'))
    const { server, guard } = await startServer({ owner: process.pid, folder })
    expect(lives(server)).toBe(true)
    await guard.kill()
    expect(lives(server)).toBe(false)
    expect(existsSync(folder)).toBe(true)
    rmSync(folder, { recursive: true })
  })

  /** A process that writes its id down and then only waits. */
  async function startServer({ owner, folder }: { owner: number; folder: string }) {
    process.env['TEST_SERVICES_OWNER'] = String(owner)
    process.env['TEST_SERVICES_FOLDER'] = folder
    const file = join(folder, 'pid')
    const program = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid))
      setInterval(() => {}, 1000)`
    const guard = startGuard(
      ['process', process.execPath, '-e', program],
      join(folder, 'output.log'),
    )
    const pid = await eventually(() => existsSync(file) && Number(readFileSync(file, 'utf8')))
    return { server: pid, guard }
  }

  function lives(pid: number): boolean {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
})
