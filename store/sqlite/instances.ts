import type { InstanceReport } from '../../schemas/instance-report.ts'
import type { Instances } from '../back-office.ts'
import type { Database } from '../../runtime/sqlite/database.ts'

const KEPT_MS = 60 * 60 * 1000

export function sqliteInstances(accounts: Database): Instances {
  const save = accounts.prepare('REPLACE INTO instances VALUES (?, ?, ?)')
  const removeOld = accounts.prepare(
    'DELETE FROM instances WHERE reported_at < (SELECT max(reported_at) FROM instances) - ?',
  )
  const since = accounts.prepare<{ report: string }>(
    'SELECT report FROM instances WHERE reported_at >= ? ORDER BY instance_id',
  )

  return {
    saveInstance: async (report) =>
      accounts.transaction(() => {
        save.run(report.instanceId, report.reportedAt, JSON.stringify(report))
        removeOld.run(KEPT_MS)
      }),

    instances: async ({ reportedSince }) =>
      since.all(reportedSince).map(({ report }) => JSON.parse(report) as InstanceReport),
  }
}
