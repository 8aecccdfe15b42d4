import { typedText } from '../sent-attributes.ts'
import { jsonIn } from '../values.ts'

/** The creator of our own GPX export, which has attributes in `gps:attributes`. */
export const OUR_CREATOR = 'gps-position-ingestion'

/** A value as our export wrote it. Earlier exports say no type: it is that of the text. */
export function exportedText(content: string, type: string | undefined, name = ''): unknown {
  if (type === 'text') return content
  return type === undefined ? typedText(name, content) : jsonIn(content)
}
