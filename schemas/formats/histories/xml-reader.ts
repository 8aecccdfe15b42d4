import { SaxesParser } from 'saxes'
import { UnreadableError } from './format.ts'

type Handlers = {
  /** An element starts; its name is the last of the path. */
  readonly open: (name: string, attributes: Readonly<Record<string, string>>, line: number) => void
  /** An element ends with this text; the path ends with the element around it. */
  readonly close: (name: string, text: string) => void
}

/**
 * Reads XML from chunks of text.
 * @param path the names of the open elements, with prefix, which the reader keeps up to date.
 */
export function xmlReader(path: string[], { open, close }: Handlers) {
  const parser = new SaxesParser()
  let content = ''
  let linesBefore = 0
  let hasBegun = false
  let fault: UnreadableError | undefined

  parser.on('error', ({ message }) => {
    const place = `line ${parser.line + linesBefore}, column ${parser.column}`
    const reason = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
    throw new UnreadableError(`it is not well-formed XML at ${place}: ${reason}`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    path.push(name)
    content = ''
    open(name, attributes, parser.line + linesBefore)
  })
  parser.on('text', (text) => {
    content += text
  })
  parser.on('cdata', (text) => {
    content += text
  })
  parser.on('closetag', () => {
    close(path.pop() ?? '', content)
    content = ''
  })

  return {
    /**
     * Reads a chunk, up to damage in it.
     * @throws {UnreadableError} if an earlier chunk was damaged.
     */
    write(text: string): void {
      if (fault !== undefined) throw fault
      try {
        parser.write(hasBegun ? text : skipToFirstTag(text))
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error
        fault = error
      }
    },
    /** The text is complete. @throws {UnreadableError} if it is not, or was damaged. */
    end(): void {
      if (fault !== undefined) throw fault
      parser.close()
    },
  }

  /** Some programs write white space before the XML declaration. */
  function skipToFirstTag(text: string): string {
    const trimmed = text.trimStart()
    linesBefore += text.slice(0, text.length - trimmed.length).split('\n').length - 1
    hasBegun = trimmed !== ''
    return trimmed
  }
}

/** The name of an element without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
