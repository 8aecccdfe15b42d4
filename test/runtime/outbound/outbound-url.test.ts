import { expect, test } from '@jest/globals'
import { outboundUrlFault, parseNetwork } from '../../../runtime/outbound/outbound-url.ts'

const HOME = [parseNetwork('192.168.0.0/16')!]

test.each([
  'https://example.org/hook?x=1',
  'https://1.1.1.1/',
  'https://[2606:4700:4700::1111]:8443/x',
])('requests to %s are allowed', (url) => expect(outboundUrlFault(url, [])).toBeUndefined())

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127.0.0.1./',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://169.254.169.254/latest/meta-data',
  'https://0xa9fea9fe/',
])('%s has no public address, and the error names the variable', (url) =>
  expect(outboundUrlFault(url, [])).toMatch(/not public; WEBHOOK_ALLOW_NETWORKS/),
)

test.each([
  ['http://example.org/', /WEBHOOK_ALLOW_NETWORKS/],
  ['http://1.1.1.1/', /WEBHOOK_ALLOW_NETWORKS/],
  ['ftp://example.org/', /https/],
  ['file:///etc/passwd', /https/],
  ['https://a:b@example.org/', /user name/],
  ['https://a@example.org/', /user name/],
  ['example.org', /URL/],
  ['', /URL/],
])('%s is rejected', (url, fault) => expect(outboundUrlFault(url, [])).toMatch(fault))

test("requests may go to a network that the service's operator allows, even without TLS", () => {
  expect(outboundUrlFault('http://192.168.1.5:8123/api', HOME)).toBeUndefined()
  expect(outboundUrlFault('https://192.168.1.5/', HOME)).toBeUndefined()
  // Its addresses are checked on connecting.
  expect(outboundUrlFault('http://homeassistant.local/', HOME)).toBeUndefined()
  expect(outboundUrlFault('http://10.0.0.1/', HOME)).toMatch(/WEBHOOK_ALLOW_NETWORKS/)
  expect(outboundUrlFault('http://1.1.1.1/', HOME)).toMatch(/WEBHOOK_ALLOW_NETWORKS/)
})
