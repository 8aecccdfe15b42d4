import type { InstanceReport } from '../../schemas/instance-report.ts'
import type { Instances } from '../back-office.ts'
import type { DocumentStore } from '../documents.ts'
import { changeDocument } from './changing.ts'
import type { InstanceDocument, InstanceHourDocument, SpoolDocument } from './kinds.ts'

const MINUTE_MS = 60 * 1_000
const HOUR_MS = 60 * MINUTE_MS
const MOST = 10_000

export function instancesOf({
  instances,
  spools,
  hours,
}: {
  spools: DocumentStore<SpoolDocument>
  instances: DocumentStore<InstanceDocument>
  hours: DocumentStore<InstanceHourDocument>
}): Instances {
  /** Updates the document of this instance and hour, which no other process writes. */
  async function saveMinute(report: InstanceReport): Promise<void> {
    const { reportedAt, acceptedPerMinute, refusedPerMinute, lag, deadLetters } = report
    const figures = {
      ...(acceptedPerMinute !== undefined && { acceptedPerMinute }),
      ...(refusedPerMinute !== undefined && { refusedPerMinute }),
      ...(lag !== undefined && { lag }),
      ...(deadLetters !== undefined && { deadLetters }),
    }
    if (Object.keys(figures).length === 0) return
    const hour = Math.floor(reportedAt / HOUR_MS) * HOUR_MS
    const minute = Math.floor((reportedAt - hour) / MINUTE_MS)
    const id = `${report.instanceId}/${hour}`
    const next = await changeDocument(hours, id, (before) => ({
      ...before,
      minutes: { ...before.minutes, [minute]: figures },
    }))
    if (next !== undefined) return
    await hours.insert([{ id, hour, minutes: { [minute]: figures } }])
  }

  async function saveSpool(id: string, events: number, reportedAt: number): Promise<void> {
    const spool = { id, events, reportedAt }
    const [added] = await spools.insert([spool])
    if (added === undefined)
      await changeDocument(spools, id, ({ revision }) => ({ ...spool, revision }))
  }

  return {
    async saveInstance(report) {
      const document = { ...report, id: report.instanceId }
      const [added] = await instances.insert([document])
      if (added === undefined) {
        await changeDocument(instances, document.id, ({ revision }) => ({ ...document, revision }))
      }
      const { id, events } = report.spool ?? {}
      if (id !== undefined && events !== undefined) await saveSpool(id, events, report.reportedAt)
      await saveMinute(report)
    },

    async waitingSpools({ reportedSince }) {
      const reported = await spools.find({ index: 'reported', from: reportedSince, limit: MOST })
      return reported.filter(({ events }) => events > 0).length
    },

    async instances({ reportedSince }) {
      const documents = await instances.find({
        index: 'reported',
        from: reportedSince,
        limit: MOST,
      })
      return documents.map(({ id: _id, revision: _revision, ...report }) => report)
    },

    async instanceMinutes({ since }) {
      const from = Math.floor(since / HOUR_MS) * HOUR_MS
      const documents = await hours.find({ index: 'hour', from, limit: MOST })
      return documents.flatMap(({ hour, minutes }) =>
        Object.entries(minutes)
          .map(([minute, figures]) => ({ start: hour + Number(minute) * MINUTE_MS, ...figures }))
          .filter(({ start }) => start >= since),
      )
    },
  }
}
