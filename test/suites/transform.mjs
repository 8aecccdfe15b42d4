import { javascript } from '../../scripts/javascript.mjs'

/**
 * Globals that no test replaces, unlike those of time. Jest's sandbox answers each look-up of a global through an
 * interceptor, which takes a microsecond, for `undefined` too: `Math.sin` is a hundred times slower than it is. A
 * constant of the module costs nothing.
 */
const GLOBALS = [
  ...['undefined', 'NaN', 'Infinity', 'Math', 'JSON', 'Number', 'String', 'Symbol', 'Boolean'],
  ...['Object', 'Array', 'Map', 'Set', 'WeakMap', 'Promise', 'Error', 'RegExp', 'Reflect'],
  ...['Buffer', 'Uint8Array', 'Uint16Array', 'Uint32Array', 'Float32Array', 'Float64Array'],
]

/** Called by jest: the source as everywhere, after constants for the globals that it uses. */
export default {
  process(text, file) {
    const { code } = javascript(text, file)
    const used = GLOBALS.filter((name) => isUsed(name, code) && !isDeclared(name, code))
    // On the first line, so that all lines keep their numbers.
    return { code: used.length === 0 ? code : `const { ${used.join(', ')} } = globalThis; ${code}` }
  },
}

function isUsed(name, code) {
  return new RegExp(`\\b${name}\\b`).test(code)
}

function isDeclared(name, code) {
  return new RegExp(`\\b(?:class|function|const|let|var|import)\\s[^=;(]*\\b${name}\\b`).test(code)
}
