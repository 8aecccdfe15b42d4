import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { transpiled } from './javascript.mjs'

/** Writes each TypeScript file of the project as JavaScript to the same place below a folder. */
export function transpile(root, files, folder) {
  for (const file of files) {
    const { code, map } = transpiled(readFileSync(join(root, file), 'utf8'), file, {
      rewriteImportExtensions: true,
    })
    const made = join(folder, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(made), { recursive: true })
    const sources = [relative(dirname(made), join(root, file))]
    writeFileSync(`${made}.map`, JSON.stringify({ ...map, sources, sourcesContent: undefined }))
    writeFileSync(made, `${code}\n//# sourceMappingURL=${basename(made)}.map\n`)
  }
}
