import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Environment = Readonly<Record<string, string>>
type Service = {
  readonly environment: Environment
  readonly ports?: readonly string[]
}
type ComposeFile = {
  readonly services: Readonly<Record<'kafka' | 'schema-registry' | 'ingest-api', Service>>
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export const consumers = read('docs/consumers.md')
export const composeFile = parse(read('docker-compose.yml'), { merge: true }) as ComposeFile

/** The file for consumers on the host, from consumers.md. */
export const overrideFile = parse(
  /```yaml\n(services:\n {2}kafka:[^]*?)```/.exec(consumers)?.[1] ?? '',
) as ComposeFile

/** The command in consumers.md with this start, as one line. */
export function command(begin: string): string {
  const lines = consumers.replaceAll(/ \\\n */g, ' ').split('\n')
  return lines.find((line) => line.startsWith(begin)) ?? ''
}

/** The value of an option in a command. */
export function optionOf(line: string, name: string): string | undefined {
  return new RegExp(`--${name} (\\S+)`).exec(line)?.[1]
}
