import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../.cache/bench-javascript/', import.meta.url))

/** Takes the types out of a module as Node loads it; what it was made into is kept. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context)
  const fileName = fileURLToPath(url)
  const text = await readFile(fileName, 'utf8')
  return { format: 'module', source: await javascript(fileName, text), shortCircuit: true }
}

async function javascript(fileName, text) {
  const name = createHash('sha256').update(fileName).update('\0').update(text).digest('hex')
  const kept = join(cache, `${name}.js`)
  const known = await readFile(kept, 'utf8').catch(() => undefined)
  if (known !== undefined) return known
  const { default: ts } = await import('typescript')
  const { outputText } = ts.transpileModule(text, {
    fileName,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  })
  // Whole or not at all: other processes of the bench load the same files.
  await mkdir(cache, { recursive: true })
  await writeFile(`${kept}.${process.pid}`, outputText)
  await rename(`${kept}.${process.pid}`, kept)
  return outputText
}
