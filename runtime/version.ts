import { existsSync, readFileSync } from 'node:fs'

/** The package's version; package.json is one folder further up from compiled code. */
export const VERSION: string = (() => {
  const file = ['../package.json', '../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url))
  if (file === undefined) return 'unknown'
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
})()
