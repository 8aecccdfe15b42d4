import { recordView } from '../devices/read-models.ts'
import { factView } from '../facts/view.ts'
import { isoTime } from '../text/iso-8601.ts'
import { batchId, itemSentence, type Told } from './item.ts'

export const WEBHOOK_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'gps-position-ingestion',
}
const MOST_BODY_BYTES = 256 * 1_024
/** The envelope around the items of a batch, with a mark of the maximum number of partitions. */
const ENVELOPE_BYTES = 16 * 1_024

/** The content of a request: one item, or a batch. */
type Content = { readonly id: string; readonly body: string }

/**
 * The body of a webhook request for these items. `count`: the number of items in it, from the first
 * on.
 */
export function webhookContent(
  told: readonly Told[],
  {
    batch,
    now,
    markAfter,
  }: {
    /** If absent, the body is a single item, not in a list. */
    readonly batch: number | undefined
    readonly now: number
    readonly markAfter: (count: number) => string
  },
): Content & { readonly count: number } {
  const all = told.map((one) => ({ id: one.item.id, body: itemBody(one) }))
  const count = fittingItems(all)
  const items = all.slice(0, count)
  const content = batch === undefined ? items[0]! : batchOf(items, { now, mark: markAfter(count) })
  return { ...content, count }
}

/** An item in a webhook's form, as JSON. */
function itemBody(told: Told): string {
  const { item, deviceName } = told
  const timestamp = isoTime(item.at)
  switch (item.kind) {
    case 'fact': {
      const data = { ...factView(item.fact), deviceName, text: itemSentence(told) }
      return JSON.stringify({ type: item.fact.type, timestamp, data })
    }
    case 'position':
      return JSON.stringify({ type: 'position', timestamp, data: recordView(item.position) })
    case 'gap':
    case 'test':
      return JSON.stringify({ type: item.kind, timestamp, data: { text: itemSentence(told) } })
  }
}

/** The number of items, from the first on, that fit in one request; at least one. */
function fittingItems(items: readonly Content[]): number {
  let bytes = ENVELOPE_BYTES
  const tooMuch = items.findIndex(({ body }) => {
    bytes += Buffer.byteLength(body) + 1
    return bytes > MOST_BODY_BYTES
  })
  return tooMuch === -1 ? items.length : Math.max(1, tooMuch)
}

/** `mark`: after the last item. */
function batchOf(items: readonly Content[], { now, mark }: { now: number; mark: string }): Content {
  const list = items.map(({ body }) => body).join()
  const end = JSON.stringify(mark)
  const body = `{"type":"batch","timestamp":"${isoTime(now)}","data":{"items":[${list}],"mark":${end}}}`
  return { id: batchId(items), body }
}
