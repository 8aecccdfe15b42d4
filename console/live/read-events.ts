/** An event of a stream (WHATWG HTML section 9.2). */
export type StreamEvent = { readonly name: string; readonly data: string; readonly id: string }

/**
 * Takes the text of an event stream as it arrives, in pieces of any size, and returns the events
 * that are complete.
 */
export function eventReader(): (text: string) => StreamEvent[] {
  let whole: StreamEvent[] = []
  let rest = ''
  let name = ''
  let id = ''
  let data: string[] = []

  function readLine(line: string): void {
    if (line === '') {
      if (data.length > 0) {
        whole.push({ name: name === '' ? 'message' : name, data: data.join('\n'), id })
      }
      name = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
  }

  return (text) => {
    whole = []
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) readLine(line)
    return whole
  }
}
