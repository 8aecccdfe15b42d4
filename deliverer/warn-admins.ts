import type { Clock } from '../runtime/clock.ts'
import { hasSignedIn } from '../store/operators.ts'
import type { Store } from '../store/store.ts'
import { isoTime } from '../schemas/text/iso-8601.ts'
import type { AttemptReport } from './run/runner-state.ts'
import type { SendMail } from './send/send-mail.ts'

const MOST_ADMINS = 50

/** Mails the admins of an account when a receiver has failed for a while, and when its subscription is disabled. */
export function adminWarnings({
  store,
  sendMail,
  clock,
  logger,
}: {
  store: Pick<Store, 'pageOperators'>
  /** Absent: there is no mail server. */
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
      isDisabled ? 'subscription disabled' : 'subscription failing',
    )
    if (sendMail === undefined) return
    const operators = await store.pageOperators({ accountId, limit: 1_000 })
    const admins = operators
      .filter((one) => one.role === 'admin' && hasSignedIn(one))
      .slice(0, MOST_ADMINS)
    if (admins.length === 0) return
    const state = isDisabled ? 'was switched off' : 'is failing'
    const subject = `The notification “${name}” ${state}`
    const text = isDisabled
      ? `${subject}: ${lastError}. Nothing was lost: enable it, and it goes on where it ended.\n`
      : `${subject} since ${isoTime(failingSince)}: ${lastError}. Nothing is lost: it goes on trying.\n`
    const html = `<!doctype html><meta charset="utf-8"><p>${escaped(text)}</p>`
    const to = admins.map(({ email }) => email)
    const mail = { subject, text, html }
    const { failure } = await sendMail({ accountId, to, mail, now: clock.now() })
    if (failure !== undefined)
      logger.warn({ subscriptionId, failure }, 'admins could not be mailed')
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
