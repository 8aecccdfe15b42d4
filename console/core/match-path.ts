/**
 * The parameters of a path for a pattern with `:name`: `matchPath('/devices/:deviceId',
 * '/devices/a%2Fb')` returns `{ deviceId: 'a/b' }`. Undefined if the path does not match;
 * `unreadable` if its percent-encoding is broken.
 */
export function matchPath(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | 'unreadable' | undefined {
  const wanted = pattern.split('/')
  const given = path.replace(/(?<=.)\/$/, '').split('/')
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? ''
    if (!part.startsWith(':')) {
      if (part !== text) return undefined
      continue
    }
    const decoded = decode(text)
    if (decoded === undefined || decoded === '') return 'unreadable'
    found[part.slice(1)] = decoded
  }
  return found
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
