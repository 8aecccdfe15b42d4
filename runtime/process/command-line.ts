import { parseArgs } from 'node:util'

/** The command line is invalid; the message says what to enter instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An option in the form of `parseArgs`, and its lines in the help. */
export type Option = {
  readonly type: 'boolean' | 'string'
  readonly multiple?: boolean
  readonly short?: string
  /** The name of its value in the help. */
  readonly value?: string
  readonly about: string
  /** The title of the group of options that starts with this one. */
  readonly title?: string
}

type Table = Readonly<Record<string, Option>>

/** The values of the options that were entered, by name. */
export type OptionValues<Options extends Table> = ReturnType<
  typeof parseArgs<{ options: Options }>
>['values']

/**
 * Parses a program's command line and generates its help, both from the same table. `operands`: the
 * arguments that are not options, and their lines in the help; without it, operands are errors.
 */
export function commandLine<const Options extends Table>({
  begin,
  operands,
  options,
  end = '',
}: {
  readonly begin: string
  readonly operands?: Readonly<Record<string, string>>
  readonly options: Options
  readonly end?: string
}): {
  readonly help: string
  /** @throws {UsageError} for the first invalid argument. */
  parse<Parsed>(
    args: readonly string[],
    read: (values: OptionValues<Options>, operands: readonly string[]) => Parsed,
  ): Parsed | 'help'
} {
  const taken = { ...options, help: HELP } as Options & { help: typeof HELP }
  return {
    help: [begin, ...rowsOf(operands, options), ...(end === '' ? [] : ['', end]), ''].join('\n'),
    parse(args, read) {
      const { values, positionals } = entered(args, taken, { hasOperands: operands !== undefined })
      if ((values as { help?: boolean }).help === true) return 'help'
      return read(values as OptionValues<Options>, positionals)
    },
  }
}

const HELP = { type: 'boolean', short: 'h', about: 'this text' } as const satisfies Option

function entered<Options extends Table>(
  args: readonly string[],
  options: Options,
  { hasOperands }: { hasOperands: boolean },
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: hasOperands })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // A misplaced key must not be printed.
    const [first = message] = message.replace(/gps_\w+/g, 'gps_…').split(/\. |\n/)
    throw new UsageError(`${first.replace(/\.$/, '')}: --help lists the options`)
  }
}

const WIDTH = 100
const GAP = 2

/** The lines of operands and options; those with a title come after `--help`. */
function rowsOf(operands: Readonly<Record<string, string>> = {}, options: Table): string[] {
  const named = Object.entries(options).map(([name, { value, about, title }]) => {
    return { label: value === undefined ? `--${name}` : `--${name} ${value}`, about, title }
  })
  const titled = named.findIndex(({ title }) => title !== undefined)
  const first = Object.entries(operands).map(([label, about]) => ({
    label,
    about,
    title: undefined,
  }))
  const help = { label: '--help', about: HELP.about, title: undefined }
  const place = titled === -1 ? named.length : titled
  const rows = [...first, ...named.toSpliced(place, 0, help)]
  const width = Math.max(...rows.map(({ label }) => label.length)) + GAP
  return rows.flatMap(({ label, about, title }, index) => {
    const lines = about.split('\n').flatMap((line) => wrapLines(line, WIDTH - width - GAP))
    return [
      ...(index === 0 ? [''] : []),
      ...(title === undefined ? [] : ['', title]),
      ...lines.map((line, at) => `  ${(at === 0 ? label : '').padEnd(width)}${line}`),
    ]
  })
}

function wrapLines(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const space = text.lastIndexOf(' ', width)
  if (space <= 0) return [text]
  return [text.slice(0, space), ...wrapLines(text.slice(space + 1), width)]
}

/** @throws {UsageError} that starts with the first option entered, if any. */
export function refuseOptions(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
  because: string,
): void {
  const unfitting = names.find((name) => values[name] !== undefined)
  if (unfitting !== undefined) throw new UsageError(`--${unfitting} ${because}`)
}

/**
 * The number of an option, or `fallback` if it is absent.
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

/**
 * The URL of a service.
 * @throws {UsageError} if it is not a URL.
 */
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

/**
 * An API key.
 * @throws {UsageError} if it is missing, or invalid in a header.
 */
export function keyOption(
  name: string,
  text: string | undefined,
  { expected }: { expected: string },
): string {
  if (text !== undefined && /^[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError(`${name} must be ${expected}`)
}
