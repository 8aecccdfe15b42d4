/**
 * The parameters of a path for a pattern with `:name`: `matchPath('/devices/:deviceId',
 * '/devices/a%2Fb')` returns `{ deviceId: 'a/b' }`. Undefined if the path does not match;
 * `unreadable` if its percent-encoding is broken.
 */
export function matchPath(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | 'unreadable' | undefined {
  const patternParts = pattern.split('/')
  const pathParts = path.replace(/(?<=.)\/$/, '').split('/')
  if (patternParts.length !== pathParts.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, part] of patternParts.entries()) {
    const text = pathParts[index] ?? ''
    if (!part.startsWith(':')) {
      if (part !== text) return undefined
      continue
    }
    const decoded = decode(text)
    if (decoded === undefined || decoded === '') return 'unreadable'
    parameters[part.slice(1)] = decoded
  }
  return parameters
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
