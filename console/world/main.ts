import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { makeTiles } from './make-tiles.ts'
import { pmtiles } from './pmtiles.ts'

/**
 * main.js FOLDER STAMP: writes FOLDER/world.pmtiles, the console's base map, from the data of
 * installed packages, and the stamp beside it. Run by scripts/make-world.mjs.
 */
const [folder = '.', stamp = ''] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const lock = new DatabaseSync(join(folder, '.lock'))
if (isFirst()) {
  const file = join(folder, 'world.pmtiles')
  const stampFile = join(folder, '.made-from')
  // The caller may have read the stamp before another program wrote the current one.
  if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
    rmSync(`${file}.new`, { force: true })
    writeFileSync(`${file}.new`, pmtiles(makeTiles()))
    renameSync(`${file}.new`, file)
    writeFileSync(stampFile, stamp)
  }
}
lock.close()

/** Whether no other program is building the map; otherwise there is nothing to do here. */
function isFirst(): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return true
  } catch {
    return false
  }
}
