import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const notSources = new Set(['node_modules', 'dist', 'data', 'test', 'bench', 'coverage'])

/** The files below a folder of the project, in order; only those with the given endings, if any. */
export function sources(root, folder, endings = ['']) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !(folder === '' && notSources.has(name)))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return sources(root, path, endings)
      return endings.some((ending) => path.endsWith(ending)) ? [path] : []
    })
    .sort()
}

/** A hash of the files' names and contents. */
export function fingerprint(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}
