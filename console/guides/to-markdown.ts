import { commonTroubles, GUIDES } from './guides.ts'
import type { CopyableText, Guide, Setup } from './guide.ts'

/** The placeholders that the pages show instead of a reader's own values. */
const PLACEHOLDERS: Setup = {
  address: 'https://gps.example.org',
  key: 'YOUR_KEY',
  deviceId: 'my-device',
}

const MADE = '<!-- Made by `npm run docs:senders` from console/guides/: change it there. -->'

/** The pages of docs/senders/, by file name. */
export async function pages(): Promise<Map<string, string>> {
  const all = GUIDES.flatMap(({ guides }) => guides)
  const made = await Promise.all(
    all.map(async ({ id, load }) => [`${id}.md`, page(await load())] as const),
  )
  return new Map([['README.md', contents()], ...made])
}

function contents(): string {
  const lists = GUIDES.flatMap(({ title, guides }) => [
    `## ${title}`,
    guides.map(({ id, name }) => `- [${name}](${id}.md)`).join('\n'),
  ])
  return text([
    MADE,
    '# Connecting a device',
    'The settings for each app. The console’s page “Connect a device” shows the same with your address and key filled in, with links and QR codes that set apps up, and waits for the first report.',
    ...lists,
    '## When nothing arrives',
    list(commonTroubles(PLACEHOLDERS)),
  ])
}

function page(guide: Guide): string {
  const link = guide.link?.(PLACEHOLDERS)
  const steps = guide.steps(PLACEHOLDERS)
  return text([
    MADE,
    `# ${guide.name}`,
    guide.about,
    `Replace \`${PLACEHOLDERS.address}\`, \`${PLACEHOLDERS.key}\` and \`${PLACEHOLDERS.deviceId}\` with your address, key and device id. The console’s page “Connect a device” does this for you.`,
    ...(link === undefined
      ? []
      : [
          '## By link',
          `The console makes this link and its QR code. ${link.text}`,
          fence(link.url),
        ]),
    ...(link === undefined ? ['## Set it up'] : ['## By hand']),
    ...steps.map(({ text, entries = [] }, index) =>
      [`${index + 1}. ${text}`, ...entries.map(entry)].join('\n\n'),
    ),
    ...(guide.known === undefined
      ? []
      : ['## Known to work', guide.known.text, ...guide.known.entries.map(titled)]),
    '## When nothing arrives',
    list([...guide.troubles, ...commonTroubles(PLACEHOLDERS)]),
  ])
}

/** An entry below a step of a list, and therefore indented. */
function entry(one: CopyableText): string {
  return indented(titled(one))
}

function titled({ title, text }: CopyableText): string {
  return `${title}:\n\n${fence(text)}`
}

function fence(text: string): string {
  return `\`\`\`\n${text.trimEnd()}\n\`\`\``
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

function indented(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, '   ')
}

function text(paragraphs: readonly string[]): string {
  return `${paragraphs.join('\n\n')}\n`
}
