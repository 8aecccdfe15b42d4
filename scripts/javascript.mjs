import { transformSync } from 'oxc-transform'

/**
 * A TypeScript source without its types: a hundredth of what the compiler takes. The types are
 * checked by `npm run check`.
 * @throws {SyntaxError} with the place of the fault.
 */
export function transpiled(text, file, { rewriteImportExtensions = false } = {}) {
  const { code, map, errors } = transformSync(file, text, {
    sourcemap: true,
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions },
  })
  const [error] = errors
  if (error !== undefined)
    throw new SyntaxError(`${file} does not compile: ${error.codeframe ?? error.message}`)
  return { code, map }
}

/** For the tests and the bench, which run sources as they are. */
export function javascript(text, file) {
  const { code, map } = transpiled(text, file)
  const inline = Buffer.from(JSON.stringify(map)).toString('base64')
  return { code: `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}\n` }
}

/** What jest calls. */
export default { process: javascript }
