import type { InstanceReport } from '../../schemas/instance-report.ts'
import type { Instances } from '../back-office.ts'
import type { Collections, InstanceDocument } from './collections.ts'

const KEPT_MS = 60 * 60 * 1_000

export function mongoInstances({
  collections: { instances },
}: {
  collections: Pick<Collections, 'instances'>
}): Instances {
  return {
    async saveInstance({ instanceId, startedAt, reportedAt, ...fields }) {
      const times = { startedAt: new Date(startedAt), reportedAt: new Date(reportedAt) }
      await instances.replaceOne({ _id: instanceId }, { ...fields, ...times }, { upsert: true })
      await instances.deleteMany({ reportedAt: { $lt: new Date(reportedAt - KEPT_MS) } })
    },

    async instances({ reportedSince }) {
      const found = await instances
        .find({ reportedAt: { $gte: new Date(reportedSince) } })
        .toArray()
      return found.map(instanceReport)
    },
  }
}

function instanceReport({
  _id,
  startedAt,
  reportedAt,
  ...fields
}: InstanceDocument): InstanceReport {
  return {
    ...fields,
    instanceId: _id,
    startedAt: startedAt.getTime(),
    reportedAt: reportedAt.getTime(),
  }
}
