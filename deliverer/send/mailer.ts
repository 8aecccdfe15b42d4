import { createTransport } from 'nodemailer'
import type { Mail } from '../render/mail.ts'
import type { Answer } from './http-client.ts'

/** RFC 3834: no automatic answers, please. */
const GENERATED = { 'Auto-Submitted': 'auto-generated' }
const WITHIN_MS = 15_000

export type Mailer = {
  /** Sends one mail; never rejects. */
  send(to: readonly string[], mail: Mail): Promise<Answer>
  close(): void
}

/** Sends mails by the operator's own server. */
export function smtpMailer({ url, from }: { url: string; from: string }): Mailer {
  const transport = createTransport(
    {
      url,
      connectionTimeout: WITHIN_MS,
      greetingTimeout: WITHIN_MS,
      socketTimeout: WITHIN_MS,
      // Nothing in a mail names a file or a URL to be read.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )

  return {
    async send(to, mail) {
      const begun = performance.now()
      const outcome = await transport.sendMail({ to: [...to], headers: GENERATED, ...mail }).then(
        () => ({ status: 250, text: '' }),
        (error: unknown) => {
          const { responseCode, code } = error as { responseCode?: unknown; code?: unknown }
          if (typeof responseCode === 'number') {
            return { failure: `the mail server answered ${responseCode}`, text: '' }
          }
          const word = typeof code === 'string' ? ` (${code.replace(/[^A-Z0-9_]/g, '')})` : ''
          return { failure: `the mail server cannot be reached${word}`, text: '' }
        },
      )
      return { ...outcome, milliseconds: Math.round(performance.now() - begun) }
    },

    close: () => transport.close(),
  }
}
