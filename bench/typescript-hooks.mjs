import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { javascript } from '../scripts/javascript.mjs'

/** Strips the types from a module as Node loads it. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context)
  const file = fileURLToPath(url)
  const { code } = javascript(await readFile(file, 'utf8'), file)
  return { format: 'module', source: code, shortCircuit: true }
}
