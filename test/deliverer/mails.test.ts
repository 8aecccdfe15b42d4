import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { mailWaitMs } from '../../deliverer/after-attempt.ts'
import { adminWarnings, mailSender, smtpMailer } from '../../deliverer/send/mail.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { closeAfterwards } from '../closing.ts'
import { eventually } from '../eventually.ts'
import { T0 } from '../samples.ts'
import { accountId, startDeliveries } from './harness.ts'
import { CERTIFICATE } from './send/certificate.ts'

type Received = { readonly to: readonly string[]; readonly content: string }

/**
 * A mail server that rejects everything while `isFull`, and recipients with a reply in `refuses`.
 */
async function startMailServer(options: SMTPServerOptions = { disabledCommands: ['STARTTLS'] }) {
  const received: Received[] = []
  const state = { isFull: false, refuses: {} as Record<string, number> }
  const server = new SMTPServer({
    authOptional: true,
    onRcptTo({ address }, _session, done) {
      const responseCode = state.refuses[address]
      const text = responseCode === 550 ? 'no such user' : 'come back later'
      done(responseCode === undefined ? null : Object.assign(new Error(text), { responseCode }))
    },
    ...options,
    onData(stream, session, done) {
      text(stream).then((content) => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        if (!state.isFull) received.push({ to, content })
        done(state.isFull ? Object.assign(new Error('full'), { responseCode: 452 }) : null)
      }, done)
    },
  })
  // A client that rejects its certificate.
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  closeAfterwards(() => new Promise<void>((closed) => server.close(() => closed())))
  const { port } = server.server.address() as AddressInfo
  return { received, state, url: `smtp://127.0.0.1:${port}` }
}

test("a minute's facts share one mail to the operators; a rejected mail is sent later", async () => {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  server.state.isFull = true
  await deliveries.appendFacts(3, { deviceId: 'Größe' })
  const to = ['ana@example.org', 'bo@example.org']
  await deliveries.addOperators(to)
  const { id } = await deliveries.subscribe({ kind: 'email', to })
  await deliveries.startDeliverer({ mailer }).refresh()
  await deliveries.idle()
  await deliveries.pass(59_999)
  await deliveries.idle()
  expect(deliveries.attempts).toEqual([])
  await deliveries.pass(1)
  await eventually(() => deliveries.attempts.length === 1)
  expect((await deliveries.find(id)).progress.lastError).toBe('the mail server responded with 452')
  server.state.isFull = false
  await deliveries.idle()
  await deliveries.pass(5_000)
  await eventually(() => server.received.length === 1)
  const [mail] = server.received
  expect(mail!.to).toEqual(to)
  expect(mail!.content).toContain('From: GPS <gps@example.org>')
  expect(mail!.content).toMatch(/Content-Type: text\/plain[^]*Content-Type: text\/html/)
})

/** A mail subscription for some operators. */
async function startMails(to: readonly string[]) {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  await deliveries.addOperators(to)
  const { id } = await deliveries.subscribe({ kind: 'email', to })
  const deliverer = deliveries.startDeliverer({ mailer })
  await deliverer.refresh()
  return {
    ...deliveries,
    server,
    /** Also advances time for a deliverer that waits for facts. */
    async pass(ms: number) {
      await deliveries.pass(ms)
      await deliveries.command(id, (progress) => progress)
      await deliverer.refresh()
    },
    /** One fact, and the minute during which others may join its mail. */
    async mailNext() {
      const before = deliveries.attempts.length
      const ids = await deliveries.appendFacts(1)
      await deliveries.idle()
      await deliveries.pass(60_000)
      await eventually(() => deliveries.attempts.length > before)
      return ids
    },
    recipients: () => server.received.map(({ to: addresses }) => addresses),
    progress: async () => (await deliveries.find(id)).progress,
    listed: () => deliveries.store.pageDeliveries({ subscriptionId: id, limit: 10 }),
  }
}

test('a rejected recipient is named in the delivery and in lastError; the others get the mail', async () => {
  const to = ['ana@example.org', 'bo@example.org', 'cy@example.org']
  const mails = await startMails(to)
  mails.server.state.refuses = { 'bo@example.org': 550 }
  await mails.mailNext()
  const error = 'bo@example.org was refused: 550 no such user'
  expect(mails.recipients()).toEqual([['ana@example.org', 'cy@example.org']])
  const progress = await mails.progress()
  expect(progress).toMatchObject({ lastError: error, succeededAt: mails.clock.time })
  expect(progress).not.toHaveProperty('failingSince')
  expect(progress).not.toHaveProperty('late')
  expect(await mails.listed()).toMatchObject([{ status: 250, error }])
  mails.server.state.refuses = {}
  await mails.mailNext()
  expect(mails.recipients().at(-1)).toEqual(to)
  expect(await mails.progress()).not.toHaveProperty('lastError')
})

test('a temporarily rejected recipient (4xx) gets the mail later and delays no other mail', async () => {
  const mails = await startMails(['ana@example.org', 'bo@example.org', 'cy@example.org'])
  mails.server.state.refuses = { 'bo@example.org': 450, 'cy@example.org': 550 }
  const [first] = await mails.mailNext()
  const error =
    'bo@example.org was refused: 450 come back later; cy@example.org was refused: 550 no such user'
  expect(await mails.progress()).toMatchObject({ lastError: error })
  await mails.pass(5_000)
  await eventually(() => mails.attempts.length === 2)
  const again = 'bo@example.org was refused: 450 come back later'
  expect(await mails.progress()).toMatchObject({ lastError: again, late: { failures: 2 } })
  const [second] = await mails.mailNext()
  // The second mail, and the first one again.
  await eventually(() => mails.attempts.length === 4)
  mails.server.state.refuses = { 'cy@example.org': 550 }
  await mails.pass(120_000)
  await eventually(() => mails.server.received.length === 4)
  expect(mails.recipients()).toEqual([
    ['ana@example.org'],
    ['ana@example.org'],
    ['bo@example.org'],
    ['bo@example.org'],
  ])
  await eventually(async () => (await mails.progress()).late === undefined)
  expect(await mails.progress()).not.toHaveProperty('lastError')
  const ids = (await mails.listed()).filter(({ error: one }) => one === undefined)
  expect(ids.map((one) => one.ids).reverse()).toEqual([[first], [second]])
})

test('if every recipient is rejected, the delivery fails and names them all', async () => {
  const mails = await startMails(['ana@example.org', 'bo@example.org'])
  mails.server.state.refuses = { 'ana@example.org': 550, 'bo@example.org': 450 }
  await mails.mailNext()
  const progress = await mails.progress()
  expect(progress.lastError).toBe(
    'ana@example.org was refused: 550 no such user; bo@example.org was refused: 450 come back later',
  )
  expect(progress).toMatchObject({ failingSince: mails.clock.time })
})

const MAIL = { subject: 'x', text: 'x', html: 'x' }

test.each([
  ['STARTTLS', 'smtp', { ...CERTIFICATE }, 'the certificate is self-signed'],
  ['TLS', 'smtps', { ...CERTIFICATE, secure: true }, 'the certificate is self-signed'],
  ['no TLS', 'smtps', { disabledCommands: ['STARTTLS'] }, 'there is no TLS at this port'],
])('a fault of %s at the mail server has its reason', async (_what, scheme, options, reason) => {
  const server = await startMailServer(options)
  const mailer = smtpMailer({ url: server.url.replace('smtp', scheme), from: 'gps@example.org' })
  closeAfterwards(() => mailer.close())
  const { failure } = await mailer.send(['ana@example.org'], MAIL)
  expect(failure).toBe(`the mail server cannot be used: ${reason}`)
})

test('an unavailable mail server is a failure with a reason', async () => {
  const mailer = smtpMailer({ url: 'smtp://127.0.0.1:1', from: 'gps@example.org' })
  closeAfterwards(() => mailer.close())
  const { failure } = await mailer.send(['ana@example.org'], MAIL)
  expect(failure).toBe('the mail server cannot be used: the connection was refused')
})

test('the user in SMTP_URL may be an e-mail address', async () => {
  const logins: unknown[] = []
  const server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    authOptional: false,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins.push([username, password])
      done(null, { user: username })
    },
  })
  const url = server.url.replace('//', '//gps@example.com:p@ss#1@')
  const { smtp } = loadConfig({ SMTP_URL: url, SMTP_FROM: 'gps@example.org' })
  const mailer = smtpMailer(smtp!)
  closeAfterwards(() => mailer.close())
  expect(await mailer.send(['ana@example.org'], MAIL)).toMatchObject({ status: 250 })
  expect(logins).toEqual([['gps@example.com', 'p@ss#1']])
})

test('a former operator gets no more mails; a subscription without recipients fails', async () => {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  const to = ['Ana@example.org', 'bo@example.org']
  const [ana, bo] = await deliveries.addOperators([
    'ana@example.org',
    'bo@example.org',
    'admin@x.org',
  ])
  const { id } = await deliveries.subscribe({ kind: 'email', to })
  await deliveries.startDeliverer({ mailer }).refresh()
  const mailNext = async () => {
    await deliveries.appendFacts(1)
    await deliveries.idle()
    await deliveries.pass(60_000)
  }
  const remove = (operatorId: string) => deliveries.store.deleteOperator({ accountId, operatorId })
  expect(await remove(bo!)).toBe('deleted')
  await mailNext()
  await eventually(() => server.received.length === 1)
  expect(server.received[0]!.to).toEqual(['Ana@example.org'])
  expect(await remove(ana!)).toBe('deleted')
  await mailNext()
  await eventually(async () => (await deliveries.find(id)).progress.failingSince !== undefined)
  expect((await deliveries.find(id)).progress.lastError).toBe(
    'none of the addresses belongs to an operator of this account any longer',
  )
  expect(server.received).toHaveLength(1)
})

test('only operators who have signed in get mail; others are asked to once a day, and the subscription says so', async () => {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  await deliveries.addOperators(['ana@example.org'])
  const bo = {
    id: 'bo',
    accountId,
    email: 'bo@example.org',
    role: 'viewer',
    platform: false,
    passwordHash: '',
    signedIn: false,
    createdAt: T0,
  } as const
  await deliveries.store.createOperator(bo)
  const to = ['ana@example.org', 'bo@example.org']
  const { id } = await deliveries.subscribe({ kind: 'email', to })
  await deliveries.startDeliverer({ mailer }).refresh()
  let sent = 0
  const mailNext = async (mails: number) => {
    await deliveries.appendFacts(1, { deviceId: 'van-of-ana' })
    await deliveries.idle()
    await deliveries.pass(60_000)
    sent += 1
    await eventually(() => deliveries.attempts.length === sent)
    expect(server.received).toHaveLength(mails)
    return (await deliveries.find(id)).progress.notice
  }
  expect(await mailNext(2)).toBe('a recipient who has not signed in yet gets mail from then on')
  const [asking, first] = server.received
  expect([asking!.to, first!.to]).toEqual([['bo@example.org'], ['ana@example.org']])
  expect(asking!.content).toContain('Sign in to get notifications')
  expect(asking!.content).not.toContain('van-of-ana')
  for (const { content } of server.received)
    expect(content).toContain('Auto-Submitted: auto-generated')
  await mailNext(3)
  expect(server.received[2]!.to).toEqual(['ana@example.org'])
  const session = { tokenHash: Buffer.alloc(32), createdAt: T0, lastSeenAt: T0 }
  await deliveries.store.createSession({ ...session, operatorId: 'bo' })
  expect(await mailNext(4)).toBeUndefined()
  expect(server.received[3]!.to).toEqual(to)
})

test("an account's tests and mails share a limit of 60 an hour; beyond it, a delivery fails with the reason", async () => {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  const to = ['ana@example.org']
  await deliveries.addOperators(to)
  for (let n = 0; n < 59; n += 1) await deliveries.store.takeMail({ accountId, at: T0 + n })
  const { id } = await deliveries.subscribe({ kind: 'email', to })
  const deliverer = deliveries.startDeliverer({ mailer })
  await deliverer.refresh()
  const tested = async (test: string) => {
    await deliveries.command(id, (progress) => ({ ...progress, test: { id: test } }))
    await deliverer.refresh()
    await eventually(async () => {
      const { progress } = await deliveries.find(id)
      return progress.test?.id === test && progress.test.outcome !== undefined
    })
    return (await deliveries.find(id)).progress.test?.outcome?.error
  }
  expect(await tested('one')).toBeUndefined()
  const reason = 'the account has sent as many mails as it may in an hour'
  expect(await tested('two')).toBe(reason)
  expect(server.received).toHaveLength(1)
})

test("warnings to admins count towards their account's 60 mails an hour", async () => {
  const deliveries = await startDeliveries()
  const server = await startMailServer()
  const mailer = smtpMailer({ url: server.url, from: 'GPS <gps@example.org>' })
  closeAfterwards(() => mailer.close())
  const { store, clock } = deliveries
  await deliveries.addOperators(['ana@example.org'])
  for (let n = 0; n < 59; n += 1) await store.takeMail({ accountId, at: T0 + n })
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: 'http://127.0.0.1:1/' })
  const subscription = await deliveries.find(id)
  const before = subscription.progress
  const failing = { ...subscription, progress: { ...before, failingSince: T0, warned: 1 } }
  const failures: object[] = []
  const logger = { warn: (fields: object) => failures.push(fields) }
  const sendMail = mailSender({ store, mailer, consoleUrl: undefined })
  const warn = adminWarnings({ store, sendMail, clock, logger })
  await warn({ subscription: failing, before, outcome: 'failed' })
  expect(server.received).toHaveLength(1)
  await warn({ subscription: failing, before, outcome: 'failed' })
  expect(server.received).toHaveLength(1)
  const failure = 'the account has sent as many mails as it may in an hour'
  expect(failures).toContainEqual({ subscriptionId: id, failure })
})

test('at most 20 mails are sent per hour; the next waits until the first is an hour old', () => {
  const minutes = (n: number) => T0 + n * 60_000
  const mailedAt = Array.from({ length: 20 }, (_, n) => minutes(n))
  expect(mailWaitMs(mailedAt.slice(1), minutes(19), minutes(20))).toBe(0)
  expect(mailWaitMs(mailedAt, minutes(19), minutes(20))).toBe(40 * 60_000)
  expect(mailWaitMs(mailedAt, minutes(19), minutes(60))).toBe(0)
  expect(mailWaitMs(undefined, minutes(20), minutes(20))).toBe(60_000)
})
