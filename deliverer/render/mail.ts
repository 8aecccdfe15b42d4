import { deviceIdOf } from '../item.ts'
import { timedSentence, type Told } from './told.ts'

export type Mail = {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const MOST_LINES = 50
const LONGEST_SUBJECT = 150

/** Several items as one mail. `consoleUrl`: of the console, for links to devices. */
export function mailOf(
  all: readonly Told[],
  { zone, consoleUrl }: { zone: string; consoleUrl: string | undefined },
): Mail {
  const lines = all.slice(0, MOST_LINES).map((told) => {
    const deviceId = deviceIdOf(told.item)
    const link =
      consoleUrl === undefined || deviceId === undefined
        ? undefined
        : `${consoleUrl}/devices/${encodeURIComponent(deviceId)}`
    return { sentence: timedSentence(told, zone), link }
  })
  const [first] = lines
  const others = all.length - 1
  const more = all.length - lines.length
  const end = more > 0 ? `and ${more} more` : undefined
  const subject = clipped(first?.sentence ?? '') + (others > 0 ? ` and ${others} more` : '')
  const text = lines.map(({ sentence, link }) => (link ? `${sentence}\n${link}` : sentence))
  const html = lines.map(({ sentence, link }) => {
    const escaped = escapeHtml(sentence)
    return `<li>${link ? `<a href="${escapeHtml(link)}">${escaped}</a>` : escaped}</li>`
  })
  return {
    subject,
    text: `${[...text, ...(end ? [end] : [])].join('\n\n')}\n`,
    html: `<!doctype html><meta charset="utf-8"><ul>${html.join('')}</ul>${end ? `<p>${end}</p>` : ''}`,
  }
}

function clipped(text: string): string {
  const signs = [...text]
  return signs.length <= LONGEST_SUBJECT ? text : `${signs.slice(0, LONGEST_SUBJECT).join('')}…`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}
