import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/**
 * Writes `NAME.gz` next to each text file below the folder, so that servers need not compress it.
 */
export async function compressFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name)
    await writeFile(`${file}.gz`, await promisify(gzip)(await readFile(file), { level: 9 }))
  }
}
