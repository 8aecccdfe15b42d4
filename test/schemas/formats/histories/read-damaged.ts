import type { FileItem } from '../../../../schemas/formats/histories/format.ts'
import { readPoints } from '../../../../schemas/formats/histories/read-points.ts'
import { textOf } from '../../../../commands/import/import-files.ts'

/** The items of a file that may be damaged, and the message about the damage. */
export async function readDamaged(
  bytes: Uint8Array,
): Promise<{ items: FileItem[]; error?: unknown }> {
  async function* source() {
    yield bytes
  }
  const items: FileItem[] = []
  try {
    const read = await readPoints(textOf(source()))
    for await (const some of read.items) items.push(...some)
    return { items }
  } catch (error) {
    return { items, error }
  }
}
