import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { devicePage } from '../../../store/sqlite/device-page.ts'
import { LABELS_OF_DEVICES } from '../../../store/sqlite/device-labels.ts'
import { REMOVE_SILENT } from '../../../store/sqlite/device-statuses.ts'
import { SETTINGS_OF_DEVICES } from '../../../store/sqlite/device-settings.ts'
import { search } from '../../../store/sqlite/documents.ts'
import {
  COUNT,
  FIND,
  NEXT,
  PAGE,
  REMOVE_ERASED,
  REMOVE_SOME,
  TRACK_POINT,
} from '../../../store/sqlite/records.ts'
import {
  ACCOUNTS,
  AUDIT,
  INSTANCE_HOURS,
  INSTANCES,
  KEYS,
  OPERATORS,
  REJECTIONS,
  SESSIONS,
  SHARES,
} from '../../../store/back-office/kinds.ts'
import type { Document, Kind, Query } from '../../../store/documents.ts'
import type { DevicePage } from '../../../store/read-models.ts'

/** How a device's statuses are found by account and id, and its number with them. */
const BY_NAME = 'INDEX sqlite_autoindex_device_statuses_1'
const ITS_DEVICE = [
  'SCALAR SUBQUERY 1',
  `SEARCH device_statuses USING COVERING ${BY_NAME} (account_id=? AND device_id=?)`,
]

type File = 'accounts' | 'read-models-1' | 'rejections'

describe('the SQLite store walks an index, without a scan or a sort, for', () => {
  let directory: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sqlite-plans-'))
    await openSqliteStore({ directory }).close()
  })

  afterAll(() => rmSync(directory, { recursive: true }))

  test('the history of a device', () => {
    const page = 'SEARCH records USING INDEX records_by_time (device=? AND '
    const ascending = [`${page}(timestamp,record_id)>(?,?) AND timestamp<?)`, ...ITS_DEVICE]
    expect(plan('read-models-1', PAGE.asc)).toEqual(ascending)
    expect(plan('read-models-1', PAGE.track)).toEqual(ascending)
    expect(plan('read-models-1', PAGE.desc)).toEqual([
      `${page}timestamp>? AND (timestamp,record_id)<(?,?))`,
      ...ITS_DEVICE,
    ])
    expect(plan('read-models-1', COUNT)).toEqual([
      'SEARCH records USING COVERING INDEX records_by_time (device=? AND timestamp>? AND timestamp<?)',
      ...ITS_DEVICE,
    ])
  })

  test('a record', () => {
    const byId = 'SEARCH records USING INDEX records_by_id (record_id=?'
    expect(plan('read-models-1', TRACK_POINT)).toEqual([`${byId})`, ...ITS_DEVICE])
    expect(plan('read-models-1', FIND)).toEqual([
      `${byId} AND account=?)`,
      'SCALAR SUBQUERY 1',
      expect.stringMatching(/^SEARCH account_numbers USING .*INDEX .+ \(account_id=\?\)$/),
      'SEARCH device_statuses USING INTEGER PRIMARY KEY (rowid=?)',
    ])
  })

  test('the records of an account, for a comparison', () => {
    const scan = 'SEARCH records USING INDEX records_by_time (device='
    expect(plan('read-models-1', NEXT.ofDevice)).toEqual([
      `${scan}? AND (timestamp,record_id)>(?,?))`,
      ...ITS_DEVICE,
    ])
    for (const [sql, upTo] of [
      [NEXT.all, ''],
      [NEXT.upTo, ' AND device_id<?'],
    ] as const) {
      expect(plan('read-models-1', sql)).toEqual([
        `SEARCH device_statuses USING COVERING ${BY_NAME} (account_id=? AND device_id>?${upTo})`,
        `${scan}?)`,
      ])
    }
  })

  test('records and devices that expire, or that go with a device', () => {
    expect(plan('read-models-1', REMOVE_SOME)).toContain(
      'SEARCH records USING COVERING INDEX records_by_age (received_at<?)',
    )
    expect(plan('read-models-1', REMOVE_ERASED)).toContain(
      'SEARCH records USING INDEX records_by_time (device=?)',
    )
    expect(plan('read-models-1', REMOVE_SILENT)).toContain(
      'SEARCH records USING COVERING INDEX records_by_time (device=?)',
    )
  })

  test.each([
    [{}, `${BY_NAME} (account_id=?)`],
    [{ seen: true }, `${BY_NAME} (account_id=?)`],
    [{ order: 'desc', after: true }, `${BY_NAME} (account_id=? AND device_id<?)`],
    [{ after: true, bbox: true, seen: true }, `${BY_NAME} (account_id=? AND device_id>?)`],
    [
      { sort: 'lastSeenAt' },
      'COVERING INDEX device_statuses_by_time (account_id=? AND (last_seen_at',
    ],
    [
      { sort: 'lastSeenAt', order: 'desc', after: true, bbox: true, seen: true },
      'COVERING INDEX device_statuses_by_time (account_id=? AND last_seen_at>? AND (last_seen_at',
    ],
  ] as const)('a page of devices, %j', (asked, walk) => {
    const { after, bbox, seen, ...query }: Asked = asked
    for (const hidden of [[], ['tracker-1']]) {
      const { sql } = devicePage(
        {
          accountId: 'acc-1',
          limit: 9,
          ...query,
          ...(after && { after: { deviceId: 'a', lastSeenAt: 1 } }),
          ...(bbox && { bbox: { west: 1, south: 1, east: 2, north: 2 } }),
          ...(seen && { seenFrom: 1, seenBefore: 2 }),
        },
        hidden,
      )
      const steps = plan('read-models-1', sql).join('\n')
      expect(steps).toContain(`SEARCH device_statuses USING ${walk}`)
      expect(steps).not.toMatch(/SCAN device_statuses|TEMP B-TREE/)
    }
  })

  test.each([
    [{}, `${BY_NAME} (account_id=?)`],
    [
      { sort: 'lastSeenAt' },
      'COVERING INDEX device_statuses_by_time (account_id=? AND (last_seen_at',
    ],
    [{ devices: ['a*'] }, `${BY_NAME} (account_id=? AND device_id>? AND device_id<?)`],
    [
      { devices: ['a*'], sort: 'lastSeenAt' },
      `${BY_NAME} (account_id=? AND device_id>? AND device_id<?)`,
    ],
  ] as const)('a search of devices, %j', (asked, walk) => {
    const search = { mentions: 'čigra', status: { is: 'idle', now: 1 } } as const
    const { sql } = devicePage({ accountId: 'acc-1', limit: 9, ...search, ...asked }, ['tug'])
    const steps = plan('read-models-1', sql).join('\n')
    expect(steps).toContain(`SEARCH device_statuses USING ${walk}`)
    expect(steps).toContain('SEARCH settings USING PRIMARY KEY (account_id=? AND device_id=?)')
    expect(steps).not.toMatch(/SCAN (device_statuses|settings)/)
  })

  test.each([{}, { sort: 'lastSeenAt' }] as const)('devices with a label, %j', (asked) => {
    const { sql } = devicePage({ accountId: 'acc-1', limit: 9, labels: ['van'], ...asked }, [])
    const steps = plan('read-models-1', sql).join('\n')
    expect(steps).toContain('.device_settings USING COVERING INDEX labelled_devices')
    expect(steps).not.toMatch(/SCAN device_/)
    expect(plan('accounts', LABELS_OF_DEVICES)).toContain(
      'SEARCH device_settings USING COVERING INDEX labelled_devices (account_id=? AND device_id>? AND device_id<?)',
    )
  })

  test.each([{}, { sort: 'lastSeenAt' }, { sort: 'lastSeenAt', order: 'desc' }] as const)(
    'devices that report with a key, %j',
    (asked) => {
      const { sql } = devicePage({ accountId: 'acc-1', limit: 9, keyId: 'k', ...asked }, [])
      expect(plan('read-models-1', sql).join('\n')).toContain(
        'SEARCH device_statuses USING INDEX device_statuses_by_key (account_id=? AND last_key_id=?',
      )
    },
  )

  test('the operators’ settings for the devices of a page', () => {
    expect(plan('accounts', SETTINGS_OF_DEVICES)).toEqual([
      expect.stringContaining('SCAN json_each'),
      'SEARCH device_settings USING PRIMARY KEY (account_id=? AND device_id=?)',
    ])
  })

  test.each([
    [{ index: 'account', where: { accountId: 'a' } }, 'account (accountId=?)'],
    [
      { index: 'account', where: { accountId: 'a' }, after: { id: 'x' } },
      'account (accountId=? AND id<?)',
    ],
    [
      { index: 'key', where: { accountId: 'a', keyId: 'k' }, after: { id: 'x' } },
      'key (accountId=? AND keyId=? AND id<?)',
    ],
    [
      { index: 'device', where: { accountId: 'a', deviceId: 'd' } },
      'device (accountId=? AND deviceId=?)',
    ],
  ] as const)('a page of refused reports, %j', (query, walk) => {
    expect(plan('rejections', statement(REJECTIONS, { ...query, order: 'desc' }))).toEqual([
      `SEARCH rejections USING INDEX rejections_by_${walk}`,
    ])
  })

  test('keys by their secret', () => {
    for (const [sql, walk] of [
      [statement(KEYS, { index: 'secret', where: { secret: 's' } }), 'secret (secret=?)'],
      [
        statement(KEYS, { index: 'previous', where: { previousSecret: 's' } }),
        'previous (previousSecret=?)',
      ],
    ] as const) {
      expect(plan('accounts', sql)).toEqual([`SEARCH keys USING INDEX keys_by_${walk}`])
    }
  })

  test('pages of accounts, operators, keys and the audit, sessions and running services', () => {
    const own = { accountId: 'a' }
    const after = { id: 'x', createdAt: 1, at: 1 }
    for (const sql of [
      statement(ACCOUNTS, { index: 'oldest', after }),
      statement(OPERATORS, { index: 'oldest', where: own, after }),
      statement(OPERATORS, { index: 'email', where: { emailLowerCase: 'a' } }),
      statement(KEYS, { index: 'oldest', where: own, order: 'desc', after }),
      statement(AUDIT, { index: 'subject', where: { ...own, 'subject.id': 's' }, order: 'desc' }),
      statement(AUDIT, { index: 'actor', where: { ...own, 'actor.id': 'o' }, from: 1 }),
      statement(INSTANCE_HOURS, { index: 'hour', from: 1 }),
      statement(SHARES, { index: 'token', where: { token: 't' } }),
      statement(SHARES, { index: 'oldest', where: own, order: 'desc', after }),
      statement(AUDIT, { index: 'time', where: own, from: 1, order: 'desc', after }),
      statement(AUDIT, { index: 'action', where: { ...own, action: 'a' }, order: 'desc', after }),
      statement(SESSIONS, { index: 'operator', where: { operatorId: 'o' }, after }),
      statement(INSTANCES, { index: 'reported', from: 1 }),
    ]) {
      expect(plan('accounts', sql)).toEqual([expect.stringMatching(/^SEARCH \w+ USING INDEX/)])
    }
  })

  test.each([
    ['accounts', 'DELETE FROM sessions WHERE "createdAt" < ?', 'sessions_by_begun (createdAt<?)'],
    ['accounts', 'DELETE FROM sessions WHERE "lastSeenAt" < ?', 'sessions_by_seen (lastSeenAt<?)'],
    [
      'rejections',
      'DELETE FROM rejections WHERE "receivedAt" < ?',
      'rejections_by_received (receivedAt<?)',
    ],
  ] as const)('expired rows of %s: %s', (name, sql, walk) => {
    expect(plan(name, sql)).toEqual([expect.stringContaining(`INDEX ${walk}`)])
  })

  function statement<D extends Document>(kind: Kind<D>, query: Omit<Query<D>, 'limit'>): string {
    return search(kind, { ...query, limit: 9 }).sql
  }

  function plan(name: File, sql: string): string[] {
    const raw = new DatabaseSync(join(directory, `${name}.sqlite`))
    raw.prepare('ATTACH DATABASE ? AS accounts').run(join(directory, 'accounts.sqlite'))
    const values = new Set((sql.match(/\?\d*/g) ?? []).map((sign, n) => (sign === '?' ? n : sign)))
    const explain = raw.prepare(`EXPLAIN QUERY PLAN ${sql}`)
    const steps = explain.all(...[...values].map(() => 1)) as { detail: string }[]
    raw.close()
    return steps.map(({ detail }) => detail)
  }
})

type Asked = Pick<DevicePage, 'sort' | 'order'> & {
  readonly after?: boolean
  readonly bbox?: boolean
  readonly seen?: boolean
}
