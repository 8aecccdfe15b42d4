import { domainToASCII } from 'node:url'
import { createTransport } from 'nodemailer'
import type { Clock } from '../../runtime/clock.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { hasSignedIn, operatorAddresses, type Operators } from '../../store/operators.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import type { AttemptReport } from '../after-attempt.ts'
import type { Answer } from './http-client.ts'
import { escapeHtml, type Mail } from '../../schemas/subscriptions/messages.ts'
import { requestFailure } from './request-failure.ts'

/** RFC 3834: asks for no automatic replies. */
const GENERATED = { 'Auto-Submitted': 'auto-generated' }
const WITHIN_MS = 15_000
const MOST_ADMINS = 50
const LONGEST_REPLY = 200

const NO_OPERATOR = 'none of the addresses belongs to an operator of this account any longer'
const NOBODY_SIGNED_IN = 'none of the recipients has signed in yet: each gets mail from then on'
const SOME_NOT_SIGNED_IN = 'a recipient who has not signed in yet gets mail from then on'
const TOO_MANY = 'the account has sent as many mails as it may in an hour'

/**
 * `failure`, even if other recipients got the mail, names the recipients refused by the server;
 * `late`: those refused temporarily (4xx).
 */
export type MailAnswer = Answer & { readonly late?: readonly string[] }

export type Mailer = {
  /** Sends one mail; never rejects. */
  send(to: readonly string[], mail: Mail): Promise<MailAnswer>
  close(): void
}

/** Sends mails through the operator's mail server. */
export function smtpMailer({ url, from }: { url: string; from: string }): Mailer {
  const transport = createTransport(
    {
      url,
      connectionTimeout: WITHIN_MS,
      greetingTimeout: WITHIN_MS,
      socketTimeout: WITHIN_MS,
      // Nothing in a mail refers to a file or URL to be read.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )

  return {
    async send(to, mail) {
      const begun = performance.now()
      const outcome = await transport.sendMail({ to: [...to], headers: GENERATED, ...mail }).then(
        (sent) => ({ status: 250, text: '', ...refusals(sent as SmtpOutcome, to) }),
        (error: SmtpOutcome) => ({ text: '', ...failureOf(error), ...refusals(error, to) }),
      )
      return { ...outcome, milliseconds: Math.round(performance.now() - begun) }
    },

    close: () => transport.close(),
  }
}

/** nodemailer's result for a mail, sent or not. */
type SmtpOutcome = {
  readonly responseCode?: number
  readonly code?: string
  /** Error codes of the system or of TLS. */
  readonly originalCode?: string
  readonly rejectedErrors?: readonly {
    readonly recipient: string
    readonly response?: string
    readonly responseCode?: number
  }[]
}

function failureOf({ responseCode, originalCode, code }: SmtpOutcome): { failure: string } {
  if (responseCode !== undefined)
    return { failure: `the mail server responded with ${responseCode}` }
  const reason = requestFailure({ code: originalCode ?? code })
  return { failure: `the mail server cannot be used: ${reason}` }
}

function refusals({ rejectedErrors = [] }: SmtpOutcome, to: readonly string[]) {
  const refused = rejectedErrors.map(({ recipient, response = '', responseCode = 0 }) => ({
    address: to.find((one) => toAscii(one) === toAscii(recipient)) ?? recipient,
    reply: response.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST_REPLY),
    isLate: responseCode < 500,
  }))
  if (refused.length === 0) return {}
  return {
    failure: refused.map(({ address, reply }) => `${address} was refused: ${reply}`).join('; '),
    late: refused.filter(({ isLate }) => isLate).map(({ address }) => address),
  }
}

function toAscii(address: string): string {
  const [, name = '', domain = ''] = /^(.*)@(.*)$/.exec(address) ?? []
  return `${name.toLowerCase()}@${domainToASCII(domain)}`
}

type MailStore = Pick<Operators, 'pageOperators'> & Pick<SubscriptionStore, 'takeMail'>

type MailToSend = {
  readonly accountId: string
  readonly to: readonly string[]
  readonly mail: Mail
  readonly now: number
}

/**
 * Mails the operators of an account who have signed in at least once: anybody's address can be made
 * an operator's. Other operators get one mail a day that asks them to sign in, with nothing written
 * by the account.
 */
export function mailSender({
  store,
  mailer,
  consoleUrl,
}: {
  store: MailStore
  mailer: Mailer | undefined
  consoleUrl: string | undefined
}) {
  /** `notice`: information for operators although the mail was sent. */
  return async function sendMail({
    accountId,
    to,
    mail,
    now,
  }: MailToSend): Promise<MailAnswer & { notice?: string }> {
    if (mailer === undefined) return failedAnswer('SMTP_URL is not set')
    const known = await operatorAddresses(store, accountId)
    const own = to.filter((address) => known.has(address.toLowerCase()))
    if (own.length === 0) return failedAnswer(NO_OPERATOR)
    const reached = own.filter((address) => known.get(address.toLowerCase()) === true)
    for (const address of own.filter((one) => !reached.includes(one))) {
      const asks = address.toLowerCase()
      if ((await store.takeMail({ accountId, at: now, asks })) > 0) continue
      await mailer.send([address], signInMail(consoleUrl))
    }
    if (reached.length === 0) return failedAnswer(NOBODY_SIGNED_IN)
    const retryAfterMs = await store.takeMail({ accountId, at: now })
    if (retryAfterMs > 0) return { ...failedAnswer(TOO_MANY), retryAfterMs }
    const answer = await mailer.send(reached, mail)
    return reached.length === own.length ? answer : { ...answer, notice: SOME_NOT_SIGNED_IN }
  }
}

export type SendMail = ReturnType<typeof mailSender>

function failedAnswer(failure: string): Answer {
  return { failure, text: '', milliseconds: 0 }
}

function signInMail(consoleUrl: string | undefined): Mail {
  const link = consoleUrl === undefined ? '' : `: ${consoleUrl}`
  return buildMail(
    'Sign in to get notifications',
    `Somebody has added an operator with this address to a GPS service and wants to send notifications to it. Sign in once to get them${link}. If you did not expect this, ignore this mail.`,
  )
}

/**
 * Mails the admins of an account when a receiver has failed for a while, and when its subscription
 * is disabled.
 */
export function adminWarnings({
  store,
  sendMail,
  clock,
  logger,
}: {
  store: Pick<Operators, 'pageOperators'>
  /** Absent if no mail server is configured. */
  sendMail: SendMail | undefined
  clock: Clock
  logger: { warn(fields: object, message: string): void }
}) {
  return async function warnAdmins({ subscription, before }: AttemptReport): Promise<void> {
    const { accountId, id: subscriptionId, name, progress } = subscription
    const isDisabled = progress.disabledAt !== undefined && before.disabledAt === undefined
    const isWarned = (progress.warned ?? 0) > (before.warned ?? 0)
    if (!isDisabled && !isWarned) return
    const { failingSince = 0, lastError = '' } = progress
    logger.warn(
      { subscriptionId, failingSince: isoTime(failingSince) },
      isDisabled ? 'notification disabled' : 'notification failing',
    )
    if (sendMail === undefined) return
    const operators = await store.pageOperators({ accountId, limit: 1_000 })
    const admins = operators
      .filter((one) => one.role === 'admin' && hasSignedIn(one))
      .slice(0, MOST_ADMINS)
    if (admins.length === 0) return
    const subject = `The notification “${name}” ${isDisabled ? 'was switched off' : 'is failing'}`
    const text = isDisabled
      ? `${subject}: ${lastError}. Nothing was lost: enable it, and it continues where it stopped.`
      : `${subject} since ${isoTime(failingSince)}: ${lastError}. Nothing is lost: it keeps retrying.`
    const to = admins.map(({ email }) => email)
    const mail = buildMail(subject, text)
    const { failure } = await sendMail({ accountId, to, mail, now: clock.now() })
    if (failure !== undefined)
      logger.warn({ subscriptionId, failure }, 'could not e-mail the admins')
  }
}

function buildMail(subject: string, text: string): Mail {
  const html = `<!doctype html><meta charset="utf-8"><p>${escapeHtml(text)}</p>`
  return { subject, text: `${text}\n`, html }
}
