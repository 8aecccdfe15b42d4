import { expect, test } from '@jest/globals'
import { APP_ATTRIBUTES, requestMaker } from '../../../bench/load/requests.ts'
import { NO_FIELDS, fieldsIn } from '../../../schemas/formats/senders/fields.ts'
import { judgePoint } from '../../../ingest-api/apps/submitted-reports.ts'
import { readOsmand } from '../../../schemas/formats/senders/osmand.ts'
import { readOverland } from '../../../schemas/formats/senders/overland.ts'
import type { AppItem } from '../../../schemas/formats/senders/app-request.ts'
import { parsePositionReport } from '../../../schemas/report/position-report.ts'

const TARGET = { url: 'http://127.0.0.1:1', key: 'gps_x', batch: 1 }

const ITEMS = {
  Overland: (request: string) => readOverland(Buffer.from(bodyOf(request))),
  OsmAnd: (request: string) =>
    readOsmand({
      query: fieldsIn(/\?(\S+)/.exec(request)?.[1] ?? ''),
      parameters: NO_FIELDS,
      header: () => '',
      mediaType: '',
      literalBasic: false,
      body: Buffer.alloc(0),
    }),
}

test.each(['OsmAnd', 'Overland'] as const)(
  'a report of %s and the native one beside it have the same fields and attributes',
  (sender) => {
    const [item] = ITEMS[sender](requestMaker({ ...TARGET, sender })())
    const native = requestMaker({ ...TARGET, attributes: APP_ATTRIBUTES[sender] })()
    const report = parsePositionReport(JSON.parse(bodyOf(native)), { now: Date.now() })
    expect(contentOf(reportOf(item))).toEqual(contentOf(report))
  },
)

function bodyOf(request: string): string {
  return request.slice(request.indexOf('\r\n\r\n') + 4)
}

function reportOf(item: AppItem | undefined) {
  if (item?.kind !== 'point') throw new Error('no point')
  return judgePoint(item, { deviceId: item.deviceId ?? '', now: Date.now() })
}

function contentOf(judged: ReturnType<typeof parsePositionReport>) {
  if ('faults' in judged) throw new Error(JSON.stringify(judged.faults))
  return { fields: Object.keys(judged.report), attributes: judged.report.attributes }
}
