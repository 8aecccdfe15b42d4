import type { SentPoint } from '../sent-point.ts'

/** A stream of text, cut anywhere between characters. */
export type Text = AsyncIterable<string>

/** A position as a file has it, yet to be judged. */
export type FilePoint = Omit<SentPoint, 'kind' | 'sent'> & {
  /** Names of fields that are ignored, but are nearly ours. */
  readonly misspelt?: readonly string[]
}

/** One item of a file, and its place there: the number of a line, or of an element of a list. */
export type FileItem = { readonly place: number } & (
  | { readonly kind: 'point'; readonly point: FilePoint }
  /** It should be a position, but cannot be read. */
  | { readonly kind: 'broken'; readonly message: string }
  /** It is none; `what` names its type. */
  | { readonly kind: 'other'; readonly what: string }
)

/** A file format: a pure reader of a stream of text. */
export type Format = {
  /** The value of `--format`. */
  readonly name: string
  readonly title: string
  /** The unit of places. */
  readonly places: 'line' | 'element'
  /** Whether its device ids are numbers that only another file explains. */
  readonly numbersDevices?: boolean
  /** Whether a text that begins like this has the format. */
  recognises(head: string): boolean
  /**
   * A text that occurs once for each position, or for each item that has a place, so that the rest of a damaged file
   * can be counted.
   */
  readonly each?: { readonly text: string; readonly what: string; readonly isPoint?: boolean }
  /**
   * @param path of the file, if it has one: absolute, with slashes.
   * @throws {UnreadableError} where the text ends to make sense, after all that comes before.
   */
  read(text: Text, from: { readonly path?: string | undefined }): AsyncIterable<readonly FileItem[]>
}

/** A file cannot be read, or not further; the message says why. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}
