import { operatorAddresses, type Operators } from '../../store/operators.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import type { Mail } from '../render/mail.ts'
import type { Answer } from './http-client.ts'
import type { Mailer } from './mailer.ts'

export type MailStore = Pick<Operators, 'pageOperators'> & Pick<SubscriptionStore, 'takeMail'>

export type MailToSend = {
  readonly accountId: string
  readonly to: readonly string[]
  readonly mail: Mail
  readonly now: number
}

/** `notice`: what operators should know although the mail was sent. */
export type MailAnswer = Answer & { readonly notice?: string }

/**
 * Mails the operators of an account who have signed in once: anybody's address can be made an operator's. The
 * others get one mail a day that asks them to, and nothing that the account has written.
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
  return async function sendMail({ accountId, to, mail, now }: MailToSend): Promise<MailAnswer> {
    if (mailer === undefined) return failed('SMTP_URL is not set')
    const known = await operatorAddresses(store, accountId)
    const own = to.filter((address) => known.has(address.toLowerCase()))
    if (own.length === 0) return failed(NO_OPERATOR)
    const reached = own.filter((address) => known.get(address.toLowerCase()) === true)
    for (const address of own.filter((one) => !reached.includes(one))) {
      const asks = address.toLowerCase()
      if ((await store.takeMail({ accountId, at: now, asks })) > 0) continue
      await mailer.send([address], signInMail(consoleUrl))
    }
    if (reached.length === 0) return failed(NOBODY_SIGNED_IN)
    const retryAfterMs = await store.takeMail({ accountId, at: now })
    if (retryAfterMs > 0) return { ...failed(TOO_MANY), retryAfterMs }
    const answer = await mailer.send(reached, mail)
    return reached.length === own.length ? answer : { ...answer, notice: SOME_NOT_SIGNED_IN }
  }
}

export type SendMail = ReturnType<typeof mailSender>

const NO_OPERATOR = 'none of the addresses belongs to an operator of this account any longer'
const NOBODY_SIGNED_IN = 'none of the recipients has signed in yet: each gets mail from then on'
const SOME_NOT_SIGNED_IN = 'a recipient who has not signed in yet gets mail from then on'
const TOO_MANY = 'the account has sent as many mails as it may in an hour'

function failed(failure: string): Answer {
  return { failure, text: '', milliseconds: 0 }
}

function signInMail(consoleUrl: string | undefined): Mail {
  const text = `Somebody has made this address one of an operator of a GPS service, and wants to send notifications to it. Sign in once to get them${consoleUrl === undefined ? '' : `: ${consoleUrl}`}. If you do not know of it, ignore this mail.`
  return {
    subject: 'Sign in to get notifications',
    text: `${text}\n`,
    html: `<!doctype html><meta charset="utf-8"><p>${text}</p>`,
  }
}
