import './buffer.ts'
import type { FileItem, Format } from '../../schemas/formats/histories/format.ts'
import { readPoints } from '../../schemas/formats/histories/read-points.ts'
import { reportOf } from '../../schemas/formats/histories/report-of.ts'
import type { HistoryAnswer, HistoryOrder } from '../core/history.ts'
import { Found } from './found.ts'
import { textOfFile } from './text-of-file.ts'

/** The limits of one call, with room for characters of several bytes. */
const MOST_REPORTS = 1_000
const MOST_CHARACTERS = 400_000
const SHOWN_EVERY_MS = 200

const page = globalThis as unknown as {
  postMessage(answer: HistoryAnswer): void
  onmessage: (event: { data: HistoryOrder }) => void
}
let go = (): void => undefined

page.onmessage = ({ data }) => {
  if (data.kind === 'more') go()
  else
    read(data).catch((error: unknown) =>
      setTimeout(() => {
        throw error
      }),
    )
}

/** Reads files one after the other with the readers of `npm run import`; a damaged one up to its damage. */
async function read({ files, deviceId, isSent }: Extract<HistoryOrder, { kind: 'read' }>) {
  const found = new Found()
  let [bytes, shownAt] = [0, 0]
  let batch: object[] = []
  let characters = 0

  for (const file of files) {
    try {
      const text = textOfFile(file, (read) => (bytes += read))
      const { format, items } = await readPoints(text)
      const before = found.points
      for await (const some of items) {
        for (const item of some)
          await take(item, format, `${file.name}, ${format.places} ${item.place}`)
        show()
      }
      if (found.points === before) found.leaveOut('no recorded position', file.name)
    } catch (error) {
      found.leaveOut(error instanceof Error ? error.message : String(error), file.name)
    }
  }
  await sendBatch()
  page.postMessage({ kind: 'done', found: found.summary() })

  async function take(item: FileItem, { numbersDevices = false }: Format, where: string) {
    if (item.kind === 'other') return found.leaveOut(`no positions: ${item.what}`, where)
    if (item.kind === 'broken') return found.leaveOut(item.message, where)
    const named = numbersDevices ? undefined : item.point.deviceId
    const device = deviceId === '' ? named : deviceId
    if (device === undefined) return found.leaveOut('it names no device', where)
    const { report } = reportOf(item.point, { deviceId: device })
    found.add(report)
    if (!isSent) return undefined
    const { length } = JSON.stringify(report)
    if (batch.length === MOST_REPORTS || characters + length > MOST_CHARACTERS) await sendBatch()
    batch.push(report)
    characters += length
    return undefined
  }

  async function sendBatch(): Promise<void> {
    if (batch.length === 0) return
    const sent = new Promise<void>((resolve) => (go = resolve))
    page.postMessage({ kind: 'batch', reports: batch })
    batch = []
    characters = 0
    await sent
  }

  function show(): void {
    const now = Date.now()
    if (now - shownAt < SHOWN_EVERY_MS) return
    shownAt = now
    page.postMessage({ kind: 'progress', bytes, points: found.points })
  }
}
