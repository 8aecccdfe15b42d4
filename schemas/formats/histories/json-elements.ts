import { JSONParser } from '@streamparser/json'
import { UnreadableError, type Text } from './format.ts'

export type Element = {
  readonly number: number
  readonly value: unknown
  /** The name of a member that is not in a list. */
  readonly name?: string
}

/**
 * Yields the elements of lists in a JSON text, numbered together from 1, and members. Only one of
 * them is in memory at a time.
 * @param paths where to find them, for example `$.locations.*` and `$.geometry`.
 * @throws {UnreadableError} if the text is not JSON, or ends too early.
 */
export async function* jsonElements(
  text: Text,
  paths: readonly string[],
): AsyncGenerator<Element[]> {
  const parser = new JSONParser({ paths: [...paths], keepStack: false })
  let number = 0
  let elements: Element[] = []
  let fault: Error | undefined
  let hasMarks = false
  parser.onValue = ({ value: parsed, key }) => {
    const value: unknown = hasMarks ? addMarks(parsed) : parsed
    if (typeof key === 'string') elements.push({ number, value, name: key })
    else elements.push({ number: (number += 1), value })
  }
  parser.onError = (error) => {
    fault ??= error
  }
  for await (const chunk of text) {
    hasMarks ||= chunk.includes(MARK)
    const json = hasMarks ? chunk.replaceAll(MARK, STAND_IN) : chunk
    parser.write(parser.isEnded ? json.trimStart() : json)
    yield elements
    elements = []
    if (fault !== undefined) {
      throw new UnreadableError(`it is not valid JSON after element ${number}: ${fault.message}`)
    }
  }
  if (!parser.isEnded) throw new UnreadableError(`it ends after element ${number}, unfinished`)
}

/**
 * The parser treats a U+FEFF within a text as a byte order mark and drops it. So it is temporarily
 * replaced with the escape of a lone surrogate, which no valid text contains.
 */
const MARK = '\ufeff'
const STAND_IN = '\\udfff'
const STOOD_IN = /\udfff/gu

function addMarks(value: unknown): unknown {
  const revive = (_: string, one: unknown) =>
    typeof one === 'string' ? one.replace(STOOD_IN, MARK) : one
  return JSON.parse(JSON.stringify(value), revive) as unknown
}

/** Returns the elements of a list; an empty list for any other value. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}
