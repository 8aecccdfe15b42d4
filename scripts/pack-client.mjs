// node scripts/pack-client.mjs [FOLDER]: builds the npm package of client/ in that folder, by default
// the current one.
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '.cache', 'gps-position-client')
const [destination = '.'] = process.argv.slice(2)
const stdio = 'inherit'

rmSync(folder, { recursive: true, force: true })
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
execFileSync(process.execPath, [tsc, '-p', join(root, 'client')], { stdio })
for (const name of ['package.json', 'README.md', '../LICENSE']) {
  cpSync(join(root, 'client', name), join(folder, name.replace('../', '')))
}
execFileSync('npm', ['pack', folder, '--silent', '--pack-destination', destination], { stdio })
