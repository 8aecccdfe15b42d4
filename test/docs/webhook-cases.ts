import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { signHeaders } from '../../deliverer/send/send-items.ts'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

/** The page's code example in a language. */
export function example(language: string): string {
  const code = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1]
  if (code === undefined) throw new Error(`the page has no ${language}`)
  return code
}

export const BODY = '{"data":{"deviceName":"Größe 🚐"}}'
export const secret = newSigningSecret()
export const secrets = [newSigningSecret(), secret]
const good = () => signHeaders(BODY, { id: 'fact-1', now: Date.now(), secrets })

/** Requests to verify, each with whether it is authentic and recent. */
export function cases() {
  return [
    { body: BODY, headers: good(), isOurs: true },
    { body: `${BODY} `, headers: good(), isOurs: false },
    { body: BODY, headers: { ...good(), 'webhook-id': 'fact-2' }, isOurs: false },
    {
      body: BODY,
      headers: signHeaders(BODY, { id: 'fact-1', now: Date.now() - 600_000, secrets }),
      isOurs: false,
    },
  ]
}

/** Whether a program is installed. */
export function has(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
