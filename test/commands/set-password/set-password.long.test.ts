import { expect, test } from '@jest/globals'
import { closeAfterwards } from '../../closing.ts'
import { operatorEnv, signIn } from '../../deployments.ts'
import { startEmbedded, startProgram } from '../../programs.ts'
import { ownDirectory } from '../../own-directory.ts'
import { endPrograms } from '../../running-programs.ts'
import { statusOf } from './status-of.ts'

const NEW = 'the new one, much longer'
const { ADMIN_EMAIL: email, ADMIN_PASSWORD: old } = operatorEnv()

test('a lost password is replaced while the service is stopped, and old sessions end', async () => {
  const directory = await ownDirectory()
  closeAfterwards(endPrograms)
  const run = async (args: string[], input = '', env = { DATA_DIR: directory }) => {
    const program = startProgram('commands/set-password/main', { args, env, input })
    return { code: await program.ended, output: program.output() }
  }
  const failure = (code: number, text: string) => ({ code, output: expect.stringContaining(text) })
  let service = await startEmbedded(directory, operatorEnv())
  const { session } = await signIn(service.adminUrl)
  expect(await statusOf(service.adminUrl, { session })).toBe(200)
  const args = ['--email', email.toUpperCase()]
  expect(await run(args, NEW)).toMatchObject(
    failure(1, 'stop it, set the password, start it again'),
  )
  service.process.kill('SIGTERM')
  await service.ended

  expect(await run(['--help'])).toMatchObject(failure(0, 'Usage: npm run set-password'))
  expect(await run([])).toMatchObject(failure(2, '--email admin@example.com'))
  expect(await run([email])).toMatchObject(failure(2, email))
  expect(await run(['--email', 'nobody@example.org'], NEW)).toMatchObject(
    failure(1, 'there is no operator with the e-mail nobody@example.org'),
  )
  expect(await run(args, 'too short')).toMatchObject(failure(1, '12 to 1024 characters'))
  expect(await run(args, old)).toMatchObject(
    failure(1, `${email.toUpperCase()} already has this password; nothing has changed`),
  )
  const elsewhere = { DATA_DIR: `${directory}/not-there` }
  expect(await run(args, NEW, elsewhere)).toMatchObject(failure(1, 'set DATA_DIR'))

  const done = await run(args, `${NEW}\n`)
  expect(done).toMatchObject(failure(0, 'all its sessions have ended'))
  expect(done.output).not.toContain(NEW)

  service = await startEmbedded(directory, operatorEnv())
  const { adminUrl } = service
  expect(await statusOf(adminUrl, { session })).toBe(401)
  expect(await statusOf(adminUrl, { email, password: old })).toBe(401)
  const operator = await signIn(adminUrl, { email, password: NEW })
  const audit = await operator.call<{ items: unknown[] }>('GET', '/audit')
  expect(audit.items).toContainEqual(
    expect.objectContaining({
      actor: { kind: 'operator', id: 'set-password', name: 'npm run set-password' },
      action: 'operator.changed',
      details: { passwordChanged: true },
      address: 'command line',
    }),
  )
})
