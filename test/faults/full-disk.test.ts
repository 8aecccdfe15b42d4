import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { contentsOf, dataToBackUpForEachTest } from '../commands/backup/data-to-back-up.ts'
import { noteSkipped } from '../services/test-run.ts'
// Builds the programs.
import '../programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The first free inodes of a tmpfs: it has no room for any other file. */
const INODES_OF_BACKUP = [1, 2, 3, 4]
const INODES_OF_RESTORE = [1, 2, 3, 4, 5]

/**
 * Runs a program beside a tmpfs that only it sees, and that goes when it ends. On a tmpfs without inodes
 * the kernel says "no space left" although bytes are left, as on a disk that fills after it was measured.
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

  /** Without the memory that SQLite's readers and writers share. */
  const durable = (folder: string) =>
    Object.entries(contentsOf(folder) ?? {}).filter(([name]) => !name.endsWith('-shm'))
  const inodes = (free: number) => `size=100m,nr_inodes=${free + 1}`
  const refusedWith = (message: RegExp) => ({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(message),
  })
  /** SQLite cannot always say why it made no file. */
  const CANNOT_WRITE = refusedWith(
    /Failed: .*(no space left on device.*\/disk\/|the disk of .*\/disk.* is full: make room there|\/disk\/.* failed: (.*: )?unable to open database file)/,
  )
  const TOO_SMALL = refusedWith(/Failed: the disk of .* MB left, and .* MB are needed: make room/)

  test('a disk that is too small for a backup is refused before anything is written', async () => {
    await data.report(5)
    expect(await program('backup', 'size=64k')).toMatchObject(TOO_SMALL)
  })

  test.each(INODES_OF_BACKUP)(
    'a disk that fills while a backup is made, with room for %i files, leaves nothing of it and the data as they were',
    async (free) => {
      await data.report(5, { projected: true })
      const before = durable(data.path('data'))
      expect(await program('backup', inodes(free))).toMatchObject(CANNOT_WRITE)
      expect(durable(data.path('data'))).toEqual(before)
    },
  )

  test('a disk that is too small for a restore is refused before anything is written', async () => {
    await data.report(5)
    await data.backUp()
    expect(await program('restore', 'size=64k')).toMatchObject(TOO_SMALL)
  })

  test.each(INODES_OF_RESTORE)(
    'a disk that fills during a restore, with room for %i files, leaves nothing of it and the backup as it was',
    async (free) => {
      await data.report(5, { projected: true })
      await data.backUp()
      const before = contentsOf(data.path('backup'))
      expect(await program('restore', inodes(free))).toMatchObject(CANNOT_WRITE)
      expect(contentsOf(data.path('backup'))).toEqual(before)
    },
  )
})
