import { transformSync } from 'oxc-transform'

/**
 * Removes the types from a TypeScript source, in a hundredth of the compiler's time. `npm run
 * check` checks the types.
 * @throws {SyntaxError} with the location of the fault.
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

/** For the tests and the bench, which run the sources directly. */
export function javascript(text, file) {
  const { code, map } = transpiled(text, file)
  const inline = Buffer.from(JSON.stringify(map)).toString('base64')
  return { code: `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}\n` }
}

/** Called by jest. */
export default { process: javascript }
