import { UnreadableError, type Text } from './format.ts'

export type Line = { readonly number: number; readonly text: string }

/** How the rest of lines is counted. */
export const LINES = { text: '\n', what: 'lines' } as const

const LONGEST = 16 * 1024 * 1024

/** The lines of a text that are not blank, without their ends. */
export async function* linesOf(text: Text): AsyncGenerator<Line[]> {
  let rest = ''
  let number = 0
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield lines.flatMap((line) => numbered(line))
    if (rest.length > LONGEST) {
      throw new UnreadableError(`line ${number + 1} is longer than 16 MiB`)
    }
  }
  yield numbered(rest)

  function numbered(line: string): Line[] {
    number += 1
    const trimmed = line.trim()
    return trimmed === '' ? [] : [{ number, text: trimmed }]
  }
}

const FEW = 20

/** The first lines of a file that are not blank, by which a format is recognised: any of them may be damaged. */
export function firstLines(head: string): string[] {
  const lines = head.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').slice(0, FEW)
}
