import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openData } from '../../../commands/open.ts'
import type { Manifest } from '../../../commands/backup/manifest.ts'
import { SECRETS_FILE, readOrCreateSecretsKey } from '../../../runtime/process/sealed-secrets.ts'
import { holdDirectory, lastBackupAt } from '../../../runtime/sqlite/data-directory.ts'
import { account, apiKey, operator } from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'
import { BEFORE_SEQUENCES } from '../../store/sqlite/before-sequences.ts'
import { contentsOf, dataToBackUpForEachTest, OTHER_EVENTS } from '../backup/data-to-back-up.ts'

const data = dataToBackUpForEachTest()

test('a restore brings back all data from the start of the backup, once', async () => {
  const made = account()
  await data.store.createAccount(made)
  const ana = operator({ accountId: made.id })
  await data.store.createOperator(ana)
  await data.store.createKey(apiKey({ accountId: made.id }), Buffer.alloc(32, 1))
  const projected = await data.report(3, { projected: true })
  const waiting = await data.report(2)
  await data.backUp()
  await data.report(1)

  await data.restore()
  const { eventLog, store } = openData(data.path('restored'))
  expect(await store.findOperatorByEmail(ana.email)).toEqual(ana)
  expect(await store.findGrant(Buffer.alloc(32, 1))).toBeDefined()
  for (const event of projected) expect(await store.findPosition(event)).toMatchObject(event)
  expect(await store.checkpoint()).toEqual({ 0: 3 })
  const stopping = new AbortController()
  const logged: string[] = []
  const reading = eventLog.subscribe({
    group: 'any',
    signal: stopping.signal,
    onBatch: async ({ entries }) =>
      void logged.push(...entries.flatMap((one) => ('event' in one ? [idOf(one.event)] : []))),
  })
  await eventually(() => logged.length >= 5)
  expect(logged).toEqual([...projected, ...waiting].map(idOf))
  stopping.abort()
  await reading
  await store.close()
  await eventLog.close()
  expect(await lastBackupAt(data.path('restored'))).toBe(T0)
})

test('the secrets key is restored, readable only by this user; data without a key is restored too', async () => {
  await data.report(1, { projected: true })
  const key = readOrCreateSecretsKey(data.path('data'))
  await data.backUp()
  await data.restore()
  const file = join(data.path('restored'), SECRETS_FILE)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readOrCreateSecretsKey(data.path('restored'))).toEqual(key)
  rmSync(join(data.path('backup'), SECRETS_FILE))
  const manifest = join(data.path('backup'), 'backup.json')
  const { files, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  const others = files.filter(({ name }) => name !== SECRETS_FILE)
  writeFileSync(manifest, JSON.stringify({ ...rest, files: others }))
  await data.restore({ to: data.path('restored too') })
  expect(existsSync(join(data.path('restored too'), SECRETS_FILE))).toBe(false)
})

test('a backup can be restored repeatedly, even after a killed restore', async () => {
  await data.report(1, { projected: true })
  await data.backUp()
  const backup = contentsOf(data.path('backup'))
  mkdirSync(join(data.path('restored'), 'restoring'), { recursive: true })
  writeFileSync(join(data.path('restored'), 'restoring', 'log.sqlite'), 'half')
  writeFileSync(join(data.path('restored'), 'in-use.lock'), '')
  await data.restore()
  await data.restore({ to: data.path('restored too') })
  expect(contentsOf(data.path('backup'))).toEqual(backup)
  for (const name of Object.keys(backup ?? {}).filter((one) => one.endsWith('.sqlite'))) {
    expect(contentsOf(data.path('restored'))?.[name]).toBe(backup?.[name])
    expect(contentsOf(data.path('restored too'))?.[name]).toBe(backup?.[name])
  }
})

test('a backup with facts from version 0.3.0 is restored and migrated', async () => {
  await data.report(1, { projected: true })
  await data.store.pageFacts({ accountId: 'acc-1', limit: 9 })
  await data.backUp()
  changeFile('facts.sqlite', BEFORE_SEQUENCES)
  changeManifest(() => ({ version: '0.3.0' }))
  await data.restore()
  const { eventLog, store } = openData(data.path('restored'))
  expect(await store.pageFacts({ accountId: 'acc-1', limit: 9 })).toEqual([])
  expect(await store.checkpoint()).toEqual({ 0: 1 })
  await store.close()
  await eventLog.close()
})

const LOG = 'backup/log.sqlite'

test.each<[what: string, change: () => void, reason: string]>([
  [
    'with a changed byte',
    () => {
      const log = readFileSync(data.path(LOG))
      log[log.length - 1]! ^= 1
      writeFileSync(data.path(LOG), log)
    },
    'log.sqlite is damaged: it has changed since the backup',
  ],
  [
    'with a file cut short',
    () => writeFileSync(data.path(LOG), readFileSync(data.path(LOG)).subarray(0, 4_096)),
    'log.sqlite is damaged',
  ],
  ['without a file', () => rmSync(data.path(LOG)), 'log.sqlite is damaged'],
  [
    'that did not finish',
    () => rmSync(data.path('backup/backup.json')),
    'has no backup.json: it is not a backup, or one that did not finish',
  ],
  [
    'whose list is damaged',
    () => writeFileSync(data.path('backup/backup.json'), '{"format":1}'),
    `backup.json is damaged: version must be the version that made the backup; choose another backup`,
  ],
  [
    'whose list is not JSON',
    () => writeFileSync(data.path('backup/backup.json'), '{"format":1'),
    'backup.json is damaged: it must be a JSON object; choose another backup',
  ],
  [
    'that lists a file elsewhere',
    () => changeManifest((one) => ({ files: [{ ...one.files[0]!, name: '../x.sqlite' }] })),
    'backup.json is damaged: files[0].name must be the name of a file that ends with .sqlite or .key',
  ],
  [
    'with a pipe for a list, which would never be read',
    () => {
      rmSync(data.path('backup/backup.json'))
      execFileSync('mkfifo', [data.path('backup/backup.json')])
    },
    'has no backup.json',
  ],
  [
    'with a pipe for a file, which would never be read',
    () => {
      rmSync(data.path(LOG))
      execFileSync('mkfifo', [data.path(LOG)])
      changeFileOfManifest('log.sqlite', { bytes: 0 })
    },
    'log.sqlite is damaged',
  ],
  [
    'that lacks the accounts',
    () =>
      changeManifest(({ files }) => ({
        files: files.filter(({ name }) => name !== 'accounts.sqlite'),
      })),
    'backup.json is damaged: files must be a list of files, each once, with log.sqlite, accounts.sqlite and',
  ],
  [
    'that lists a file twice',
    () => changeManifest(({ files }) => ({ files: [...files, files[0]!] })),
    'backup.json is damaged: files must be a list of files, each once',
  ],
  [
    'with fewer events than it says',
    () => changeManifest(({ events }) => ({ events: events + 1 })),
    'the backup is damaged: it has 2 events, but its manifest says 3; choose another backup',
  ],
  [
    'in a newer format',
    () => changeManifest(() => ({ format: 2, version: '9.0.0' })),
    'was made by a newer version (9.0.0): restore it with that version',
  ],
  [
    'of a newer version',
    () => changeFile('accounts.sqlite', 'PRAGMA user_version = 1000'),
    'schema version 1000, this program knows up to 4',
  ],
  [
    'from before version 0.3.0',
    () => changeFile('accounts.sqlite', 'PRAGMA user_version = 2'),
    'schema version 2, from before version 0.3.0 of the program: start version 0.3.0 with it once',
  ],
  [
    'whose files do not belong together',
    () => changeFile('log.sqlite', OTHER_EVENTS),
    'log and store do not belong together',
  ],
])(
  'a backup %s is rejected, and the data directory is left unchanged',
  async (_what, change, reason) => {
    await data.report(2, { projected: true })
    await data.backUp()
    change()
    await expect(data.restore()).rejects.toThrow(reason)
    expect(contentsOf(data.path('restored'))).toBeUndefined()
    mkdirSync(data.path('restored'))
    await expect(data.restore()).rejects.toThrow(reason)
    expect(contentsOf(data.path('restored'))).toEqual({})
  },
)

test('a data directory with data is rejected and left unchanged', async () => {
  await data.backUp()
  await data.report(1)
  const to = data.path('data')
  const before = contentsOf(to)
  await expect(data.restore({ to })).rejects.toThrow(`${to} is not empty`)
  expect(contentsOf(to)).toEqual(before)
})

test('a data directory that a service has just claimed is rejected', async () => {
  await data.backUp()
  const to = data.path('restored')
  mkdirSync(to)
  const held = holdDirectory(to, { variable: 'DATA_DIR' })
  await expect(data.restore({ to })).rejects.toThrow(`another process uses ${to}`)
  held.release()
})

test('a disk with too little space is rejected, and no folder is left', async () => {
  await data.backUp()
  await expect(data.restore({ free: async () => 1_000 })).rejects.toThrow('MB are needed')
  expect(contentsOf(data.path('restored'))).toBeUndefined()
})

const TIME = 'a time before the year 10000, in milliseconds since 1970'
const COUNT = 'a whole number that is not negative'

test.each([
  ['format', 1.5, '1'],
  ['format', '1', '1'],
  ['format', undefined, '1'],
  ['version', 3, 'the version that made the backup'],
  ['version', '', 'the version that made the backup'],
  ['begunAt', 9e15, TIME],
  ['begunAt', -1, TIME],
  ['begunAt', 1.5, TIME],
  ['begunAt', '2026-01-01T00:00:00Z', TIME],
  ['begunAt', null, TIME],
  ['events', -1, COUNT],
  ['events', undefined, COUNT],
  ['projected', 0.5, COUNT],
  ['projected', '2', COUNT],
])(
  'a backup whose %s is %j is rejected, naming the field and its valid values',
  async (field, value, expected) => {
    await data.backUp()
    changeManifest(() => ({ [field]: value }))
    await expect(data.restore()).rejects.toThrow(
      new RegExp(`backup.json is damaged: ${field} must be ${expected}; choose another backup$`),
    )
    expect(contentsOf(data.path('restored'))).toBeUndefined()
  },
)

test.each([
  ['name', 'LOG.sqlite', 'the name of a file that ends with .sqlite or .key'],
  ['bytes', -1, COUNT],
  ['bytes', '4096', COUNT],
  ['bytes', null, COUNT],
  ['sha256', 'x', '64 hexadecimal digits'],
  ['sha256', undefined, '64 hexadecimal digits'],
])(
  'a backup with a file whose %s is %j is rejected, naming the field and its valid values',
  async (field, value, expected) => {
    await data.backUp()
    changeFileOfManifest('accounts.sqlite', { [field]: value })
    await expect(data.restore()).rejects.toThrow(
      new RegExp(
        `backup.json is damaged: files\\[1\\].${field} must be ${expected}; choose another backup$`,
      ),
    )
    expect(contentsOf(data.path('restored'))).toBeUndefined()
  },
)

test('fields that another version adds to a backup are ignored', async () => {
  await data.backUp()
  changeManifest(({ files }) => ({ by: 'x', files: files.map((one) => ({ ...one, by: 'x' })) }))
  await data.restore()
})

test('an unwritable data directory is reported in one sentence', async () => {
  await data.backUp()
  await expect(data.restore({ to: '/proc/x/y' })).rejects.toThrow(
    /^the folder \/proc\/x\/y cannot be created \(ENOENT: [^\n]+\): choose another one$/,
  )
})

function changeFileOfManifest(name: string, change: object): void {
  changeManifest(({ files }) => ({
    files: files.map((one) => (one.name === name ? { ...one, ...change } : one)),
  }))
}

function changeManifest(change: (manifest: Manifest) => object): void {
  const file = data.path('backup/backup.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  writeFileSync(file, JSON.stringify({ ...manifest, ...change(manifest) }))
}

/** As if the backup had been created like this. */
function changeFile(name: string, sql: string): void {
  const file = `backup/${name}`
  data.damage(file, `${sql}; PRAGMA wal_checkpoint(TRUNCATE)`)
  for (const ending of ['-wal', '-shm']) rmSync(data.path(file + ending), { force: true })
  const content = readFileSync(data.path(file))
  const sha256 = createHash('sha256').update(content).digest('hex')
  changeFileOfManifest(name, { bytes: content.length, sha256 })
}

function idOf(event: { readonly recordId: string } | { readonly eventId: string }): string {
  return 'recordId' in event ? event.recordId : event.eventId
}
