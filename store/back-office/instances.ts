import type { Instances } from '../back-office.ts'
import type { Documents } from '../documents.ts'
import { changed } from './changing.ts'
import type { InstanceDocument } from './kinds.ts'

const KEPT_MS = 60 * 60 * 1_000
const MOST = 10_000

export function instancesOf(instances: Documents<InstanceDocument>): Instances {
  return {
    async saveInstance(report) {
      const document = { ...report, id: report.instanceId }
      const [added] = await instances.insert([document])
      if (added === undefined) {
        await changed(instances, document.id, ({ revision }) => ({ ...document, revision }))
      }
      await instances.removeOlder({ index: 'reported', than: report.reportedAt - KEPT_MS })
    },

    async instances({ reportedSince }) {
      const found = await instances.find({ index: 'reported', from: reportedSince, limit: MOST })
      return found.map(({ id: _id, revision: _revision, ...report }) => report)
    },
  }
}
