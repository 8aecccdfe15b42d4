import { factView } from '../../schemas/facts/view.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { recordView } from '../../schemas/devices/record-view.ts'
import { batchId } from '../item.ts'
import { itemSentence, type Told } from './told.ts'

export const MOST_BODY_BYTES = 256 * 1_024
/** What is around the items of a batch, with a mark of the most partitions. */
const ENVELOPE_BYTES = 16 * 1_024

/** An item as a webhook tells it, as JSON. */
export function webhookItem(told: Told): string {
  const { item } = told
  const timestamp = isoTime(item.at)
  switch (item.kind) {
    case 'fact': {
      const { deviceName } = told
      const data = { ...factView(item.fact), deviceName, text: itemSentence(told) }
      return JSON.stringify({ type: item.fact.type, timestamp, data })
    }
    case 'position': {
      const data = recordView(item.position)
      return JSON.stringify({ type: 'position', timestamp, data })
    }
    case 'gap':
    case 'test':
      return JSON.stringify({ type: item.kind, timestamp, data: { text: itemSentence(told) } })
  }
}

/** A rendered item. */
type Json = { readonly id: string; readonly json: string }

/** The number of items, from the first one on, that fit in one request; at least one. */
export function fittingItems(items: readonly Json[]): number {
  let bytes = ENVELOPE_BYTES
  const tooMuch = items.findIndex(({ json }) => {
    bytes += Buffer.byteLength(json) + 1
    return bytes > MOST_BODY_BYTES
  })
  return tooMuch === -1 ? items.length : Math.max(1, tooMuch)
}

/** The body of a webhook and its id. `mark`: after the last item; absent: not a batch. */
export function webhookBody(
  items: readonly Json[],
  { now, mark }: { now: number; mark: string | undefined },
): { readonly id: string; readonly body: string } {
  const [first] = items
  if (mark === undefined && first !== undefined) return { id: first.id, body: first.json }
  const list = items.map(({ json }) => json).join()
  const end = JSON.stringify(mark ?? '')
  const body = `{"type":"batch","timestamp":"${isoTime(now)}","data":{"items":[${list}],"mark":${end}}}`
  return { id: batchId(items), body }
}
