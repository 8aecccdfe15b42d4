import type { SentPoint } from '../sent-point.ts'

/** A stream of text, split anywhere between characters. */
export type Text = AsyncIterable<string>

/** A position from a file, not yet validated. */
export type FilePoint = Omit<SentPoint, 'kind' | 'sent'> & {
  /** Names of ignored fields that nearly match ours. */
  readonly misspelt?: readonly string[]
}

/** An item of a file, and its location: the number of a line or list element. */
export type FileItem = { readonly place: number } & (
  | { readonly kind: 'point'; readonly point: FilePoint }
  /** It should be a position, but cannot be read. */
  | { readonly kind: 'broken'; readonly message: string }
  /** It is not a position; `what` names its type. */
  | { readonly kind: 'other'; readonly what: string }
)

/** A file format: a pure reader of a stream of text. */
export type Format = {
  /** The value of `--format`. */
  readonly name: string
  readonly title: string
  /** The unit of locations. */
  readonly places: 'line' | 'element'
  /** Whether its device ids are numbers that only another file explains. */
  readonly numbersDevices?: boolean
  /** Whether a text that starts like this has the format. */
  recognises(head: string): boolean
  /**
   * A text that occurs once for each position, or for each located item, so that the rest of a
   * damaged file can be counted.
   */
  readonly each?: { readonly text: string; readonly what: string; readonly isPoint?: boolean }
  /**
   * @param path of the file, if it has one: absolute, with slashes.
   * @throws {UnreadableError} where the text becomes invalid, after everything before it.
   */
  read(text: Text, from: { readonly path?: string | undefined }): AsyncIterable<readonly FileItem[]>
}

/** A file cannot be read, or not to its end; the message says why. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

export type Line = { readonly number: number; readonly text: string }

/** How to count the remaining lines. */
export const LINES = { text: '\n', what: 'lines' } as const

const LONGEST = 16 * 1024 * 1024

/** The lines of a text that are not blank, without their ends. */
export async function* linesOf(text: Text): AsyncGenerator<Line[]> {
  let rest = ''
  let number = 0
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield lines.flatMap((line) => numberLines(line))
    if (rest.length > LONGEST) {
      throw new UnreadableError(`line ${number + 1} is longer than 16 MiB`)
    }
  }
  yield numberLines(rest)

  function numberLines(line: string): Line[] {
    number += 1
    const trimmed = line.trim()
    return trimmed === '' ? [] : [{ number, text: trimmed }]
  }
}

/** Reads a text until its start is sufficient, or completely. */
export async function textWithHead(
  text: Text,
  isEnough: (head: string) => boolean,
): Promise<{ head: string; whole: Text }> {
  const source = text[Symbol.asyncIterator]()
  let head = ''
  while (!isEnough(head)) {
    const next = await source.next()
    if (next.done === true) break
    head += next.value
  }
  return { head, whole: readWhole() }

  async function* readWhole(): Text {
    yield head
    yield* { [Symbol.asyncIterator]: () => source }
  }
}

const FEW = 20

/**
 * The first non-blank lines of a file, by which a format is recognised: any of them may be damaged.
 */
export function firstLines(head: string): string[] {
  const lines = head.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').slice(0, FEW)
}
