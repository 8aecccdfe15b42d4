import { UsageError } from './command-line.ts'

/**
 * The number that an option has, or `fallback` if it is absent.
 * @throws {UsageError} outside `min` to `max`, or if it must be whole and is not.
 */
export function numberOption<Name extends string, Fallback>(
  values: { readonly [N in Name]?: unknown },
  name: Name,
  range: { fallback: Fallback; min: number; max: number; whole?: boolean },
): number | Fallback {
  const text = values[name]
  if (typeof text !== 'string') return range.fallback
  const value = Number(text)
  const { min, max, whole = false } = range
  if (text.trim() !== '' && value >= min && value <= max && (!whole || Number.isInteger(value))) {
    return value
  }
  const kind = whole ? 'a whole number' : 'a number'
  throw new UsageError(`--${name} must be ${kind} from ${min} to ${max}, not "${text}"`)
}

/** The URL of a service. @throws {UsageError} if it is none. */
export function urlOption(
  name: string,
  text: string | undefined,
  { fallback }: { fallback: string },
): URL {
  const address = text ?? fallback
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed
  throw new UsageError(`${name} must be an http:// or https:// URL such as ${fallback}`)
}

/** An API key. @throws {UsageError} if it is missing, or invalid in a header. */
export function keyOption(
  name: string,
  text: string | undefined,
  { expected }: { expected: string },
): string {
  if (text !== undefined && /^[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError(`${name} must be ${expected}`)
}
