import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { operatorEnv, signIn } from '../deployments.ts'
import { startEmbedded, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'
import { runSchemathesis } from './run-schemathesis.ts'

/** It never ends, so it cannot be called by a client that reads whole responses. */
const STREAM = 'followStream'

await describeWith(['schemathesis'], 'requests made up from the documents', ({ schemathesis }) => {
  const { folder } = schemathesis
  let directory: string
  let service: Embedded
  let operator: Awaited<ReturnType<typeof signIn>>

  beforeAll(async () => {
    directory = await ownDirectory()
    // Each call is also tried with a wrong key, which gives a 401 until attempts are limited.
    service = await startEmbedded(directory, { ...operatorEnv(), RATE_LIMIT_AUTH: 'off' })
    operator = await signIn(service.adminUrl)
    const { key } = await operator.createKey()
    for (const deviceId of ['tug', 'barge']) await submit(key, deviceId)
  })

  afterAll(async () => {
    service.process.kill('SIGKILL')
    await service.ended
  })

  async function submit(key: string, deviceId: string): Promise<void> {
    const answer = await fetch(`${service.ingestUrl}/api/v1/gps/submit`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ deviceId, latitude: 45, longitude: 13 }),
    })
    expect(answer.status).toBe(200)
  }

  async function expectNoFaults(run: ReturnType<typeof runSchemathesis>): Promise<void> {
    const { code, output } = await run
    if (code !== 0) throw new Error(output)
    expect(output).toContain('No issues found')
  }

  /** Otherwise most responses would be a 401, which is documented for nearly every call. */
  async function expectStillGood(headers: Record<string, string>): Promise<void> {
    const answer = await fetch(`${service.adminUrl}/api/v1/devices`, { headers })
    expect(answer.status).toBe(200)
  }

  test('the ingest API responds as documented', async () => {
    const { key } = await operator.createKey({ scopes: ['positions:write', 'positions:import'] })
    const secret = { scheme: 'apiKey', kind: 'bearer', value: key } as const
    await expectNoFaults(runSchemathesis(service.ingestUrl, { folder, secret }))
  })

  test('the admin API responds to a key as documented', async () => {
    const { key } = await operator.createKey({ scopes: ['admin'] })
    const secret = { scheme: 'apiKey', kind: 'bearer', value: key } as const
    // The omitted calls would end the calling key; the session below makes them.
    const leaveOut = [STREAM, 'changeKey', 'rotateKey', 'revokeKey']
    await expectNoFaults(runSchemathesis(service.adminUrl, { folder, secret, leaveOut }))
    await expectStillGood({ Authorization: `Bearer ${key}` })
  })

  test('the admin API responds to an operator as documented', async () => {
    const secret = { scheme: 'session', kind: 'api_key', value: operator.session } as const
    const headers = { 'X-Requested-With': 'console' }
    // The omitted calls would end the session; the key above makes those of operators.
    const leaveOut = [STREAM, 'signOut', 'changeOperator', 'deleteOperator']
    await expectNoFaults(runSchemathesis(service.adminUrl, { folder, secret, headers, leaveOut }))
    await expectStillGood({ Cookie: `gps_session=${operator.session}` })
  })
})
