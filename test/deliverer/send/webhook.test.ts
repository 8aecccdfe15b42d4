import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { signHeaders } from '../../../deliverer/send/send-items.ts'
import { newSigningSecret } from '../../../schemas/access/random-secrets.ts'

const BODY = '{"type":"device.online","data":{"deviceName":"Größe 🚐"}}'

test('receivers can verify a webhook with the Standard Webhooks library', () => {
  const secret = newSigningSecret()
  const headers = signHeaders(BODY, { id: 'fact-1', now: Date.now(), secrets: [secret] })
  expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(() => new Webhook(secret).verify(`${BODY} `, headers)).toThrow(/signature/)
  const renamed = { ...headers, 'webhook-id': 'fact-2' }
  expect(() => new Webhook(secret).verify(BODY, renamed)).toThrow(/signature/)
})

test('while a secret is being replaced, both old and new secrets verify', () => {
  const secrets = [newSigningSecret(), newSigningSecret()]
  const headers = signHeaders(BODY, { id: 'x', now: Date.now(), secrets })
  for (const secret of secrets) new Webhook(secret).verify(BODY, headers)
  expect(() => new Webhook(newSigningSecret()).verify(BODY, headers)).toThrow(/signature/)
})
