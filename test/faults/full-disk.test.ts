import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { contentsOf, dataToBackUpForEachTest } from '../commands/backup/data-to-back-up.ts'
import { freePort } from '../services/own-server.ts'
import { noteSkipped } from '../services/test-run.ts'
// Builds the programs.
import '../programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The first free inodes of a tmpfs, which has no room for other files. */
const INODES_OF_BACKUP = [1, 2, 3, 4]
const INODES_OF_RESTORE = [1, 2, 3, 4, 5]

/**
 * Checks readiness 20 times on a full disk, and stops the service once it is ready again. `$1` is
 * Node.
 */
const FILL_WHILE_IT_RUNS = `
  "$1" dist/embedded/main.js & service=$!
  ingest=http://127.0.0.1:$INGEST_PORT admin=http://127.0.0.1:$ADMIN_PORT
  status() { kill -0 $service || exit 9; curl -s -o /dev/null -w '%{http_code}' $1/readyz; }
  until [ "$(status $ingest)$(status $admin)" = 200200 ]; do sleep 0.2; done
  head -c 10m /dev/zero >$AT/filler 2>/dev/null
  until [ "$(status $ingest)" = 503 ]; do sleep 0.2; done
  for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do curl -s $ingest/readyz; done
  rm $AT/filler
  until [ "$(status $ingest)" = 200 ]; do sleep 0.2; done
  kill -TERM $service && wait $service`

/**
 * Runs a program with a private tmpfs, which disappears when the program ends. On a tmpfs without
 * inodes the kernel reports "no space left" although bytes are left, as on a disk that fills after
 * it was measured.
 */
async function onTmpfs(
  mount: { at: string; options: string },
  command: readonly string[],
  env: Record<string, string> = {},
) {
  const script = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && "$@"'
  const left = 'code=$?; find "$AT" -mindepth 1 -printf "left %P\\n"; exit $code'
  const args = ['--map-root-user', '--mount', 'sh', '-c', `${script}; ${left}`, 'sh']
  const options = { cwd: root, env: { PATH: process.env['PATH'], AT: mount.at, ...env } }
  return run('unshare', [...args, mount.options, mount.at, ...command], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  )
}

async function describeTmpfs(suite: string, define: () => void): Promise<void> {
  const { code } = await onTmpfs({ at: '/mnt', options: 'size=1m' }, ['true'])
  if (code === 0) return describe(suite, define)
  const reason = 'no file system can be mounted here'
  if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(reason)
  noteSkipped(suite, reason)
  describe.skip(suite, define)
}

await describeTmpfs('a full disk', () => {
  const data = dataToBackUpForEachTest()

  /** Runs `npm run backup` or `restore` with its folder on a tmpfs. */
  function program(name: 'backup' | 'restore', options: string) {
    const at = data.path('disk')
    mkdirSync(at)
    const command = [process.execPath, `dist/commands/${name}/main.js`]
    return name === 'backup'
      ? onTmpfs({ at, options }, [...command, `${at}/backup`], { DATA_DIR: data.path('data') })
      : onTmpfs({ at, options }, [...command, data.path('backup')], { DATA_DIR: `${at}/data` })
  }

  /** Ignores the memory that SQLite's readers and writers share. */
  const durable = (folder: string) =>
    Object.entries(contentsOf(folder) ?? {}).filter(([name]) => !name.endsWith('-shm'))
  const inodes = (free: number) => `size=100m,nr_inodes=${free + 1}`
  const refusedWith = (message: RegExp) => ({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(message),
  })
  /** SQLite cannot always say why it created no file. */
  const CANNOT_WRITE = refusedWith(
    /Failed: .*(no space left on device.*\/disk\/|the disk of .*\/disk.* is full: make room there|\/disk\/.* failed: (.*: )?unable to open database file)/,
  )
  const TOO_SMALL = refusedWith(/Failed: the disk of .* MB left, and .* MB are needed: make room/)

  test('a disk that is too small for a backup is rejected before anything is written', async () => {
    await data.report(5)
    expect(await program('backup', 'size=64k')).toMatchObject(TOO_SMALL)
  })

  test.each(INODES_OF_BACKUP)(
    'if the disk fills during a backup, with room for %i files, nothing of it is left and the data is unchanged',
    async (free) => {
      await data.report(5, { projected: true })
      const before = durable(data.path('data'))
      expect(await program('backup', inodes(free))).toMatchObject(CANNOT_WRITE)
      expect(durable(data.path('data'))).toEqual(before)
    },
  )

  test('a disk that is too small for a restore is rejected before anything is written', async () => {
    await data.report(5)
    await data.backUp()
    expect(await program('restore', 'size=64k')).toMatchObject(TOO_SMALL)
  })

  test.each(INODES_OF_RESTORE)(
    'if the disk fills during a restore, with room for %i files, nothing of it is left and the backup is unchanged',
    async (free) => {
      await data.report(5, { projected: true })
      await data.backUp()
      const before = contentsOf(data.path('backup'))
      expect(await program('restore', inodes(free))).toMatchObject(CANNOT_WRITE)
      expect(contentsOf(data.path('backup'))).toEqual(before)
    },
  )

  test.each(['16k', '64k', '256k', '400k'])(
    'the service does not start on a full disk of %s, and names the folder in one line',
    async (size) => {
      const at = data.path('disk')
      mkdirSync(at)
      const { code, stdout } = await onTmpfs(
        { at, options: `size=${size}` },
        [process.execPath, 'dist/embedded/main.js'],
        { DATA_DIR: `${at}/data`, INGEST_PORT: '0', ADMIN_PORT: '0' },
      )
      const lines = stdout.split('\n').filter((line) => /^\{"level":[456]0/.test(line))
      expect(code).toBe(1)
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { reason: `the disk of ${at}/data is full: make room there`, msg: 'could not start' },
      ])
    },
  )

  test('while the disk is full the service is not ready, names the folder and does not flood its log', async () => {
    const at = data.path('disk')
    mkdirSync(at)
    const ports = {
      INGEST_PORT: String(await freePort()),
      ADMIN_PORT: String(await freePort()),
    }
    const { code, stdout } = await onTmpfs(
      { at, options: 'size=3m' },
      ['sh', '-c', FILL_WHILE_IT_RUNS, 'sh', process.execPath],
      { DATA_DIR: `${at}/data`, ...ports },
    )
    expect(code).toBe(0)
    expect(stdout).toContain(`not ready: the disk of ${at}/data is full: make room there`)
    const warnings = stdout.split('\n').filter((line) => /^\{"level":[456]0/.test(line))
    const kinds = warnings.map((line) => {
      const { msg, what, thread } = JSON.parse(line) as Record<string, unknown>
      return [msg, what, thread].join()
    })
    // The same line is repeated only after a minute.
    expect(kinds).toEqual([...new Set(kinds)])
    expect(kinds).not.toEqual([])
  })
})
