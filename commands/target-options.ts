import { UsageError } from './command.ts'

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
