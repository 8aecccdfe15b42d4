import { transformSync } from 'oxc-transform'

/**
 * A TypeScript source without its types, for the tests and the bench: a hundredth of what the compiler
 * takes. The types are checked by `npm run check`.
 */
export function javascript(text, file) {
  const { code, map, errors } = transformSync(file, text, {
    sourcemap: true,
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true },
  })
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${file}: ${error.codeframe ?? error.message}`)
  const inline = Buffer.from(JSON.stringify(map)).toString('base64')
  return { code: `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}\n` }
}

/** What jest calls. */
export default { process: javascript }
