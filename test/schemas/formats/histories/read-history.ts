import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileItem } from '../../../../schemas/formats/histories/format.ts'
import { reportOf, type UnjudgedReport } from '../../../../schemas/formats/histories/report-of.ts'
import { parseImportedReport } from '../../../../schemas/report/position-report.ts'
import { readPoints } from '../../../../schemas/formats/histories/read-points.ts'
import { textOf } from '../../../../commands/import/import-files.ts'

const NOW = Date.UTC(2027, 0, 1)

/** The bytes of a fixture. */
export function history(name: string): Buffer {
  return readFileSync(join('test', 'fixtures', 'histories', name))
}

/** The items of a file that arrives in these chunks, and the name of the detected format. */
export function readHistory(...pieces: readonly Uint8Array[]) {
  return readHistoryAt(undefined, ...pieces)
}

/** The items of the file at this path, and the name of its format. */
export async function readHistoryAt(
  path: string | undefined,
  ...pieces: readonly Uint8Array[]
): Promise<{ format: string; found: FileItem[] }> {
  async function* bytes() {
    yield* pieces
  }
  const { format, items: found } = await readPoints(textOf(bytes()), { path })
  const items: FileItem[] = []
  for await (const some of found) items.push(...some)
  return { format: format.name, found: items }
}

/** Each item as the report to send, or as the message about it. */
export function asReports(found: readonly FileItem[]): (UnjudgedReport | string)[] {
  return found.map((item) => {
    if (item.kind === 'other') return item.what
    if (item.kind === 'broken') return item.message
    const deviceId = item.point.deviceId ?? 'given'
    const { report } = reportOf(item.point, { deviceId })
    const judged = parseImportedReport(report, { now: NOW })
    return 'report' in judged ? report : judged.faults.map(({ message }) => message).join('; ')
  })
}

/** Reads a text as one chunk. */
export async function reportsInText(text: string) {
  const { found } = await readHistory(Buffer.from(text))
  return asReports(found)
}
