import { expect, test } from '@jest/globals'
import { factItem } from '../../../deliverer/item.ts'
import { chatRequest, mailOf } from '../../../deliverer/send/messages.ts'
import { T0 } from '../../samples.ts'

const told = (deviceName: string, alarm = 'sos') => ({
  deviceName,
  item: factItem({
    type: 'alarm.reported',
    alarm,
    late: false,
    id: 'x',
    sequence: 1,
    accountId: 'acc-1',
    deviceId: 'van/1',
    at: T0,
    decidedAt: T0,
    inside: [],
  }),
})
const HOSTILE = '<img src=x onerror=alert(1)>"\'&\r\nBcc: eve@example.org\u2028<!channel> @everyone'

test('ntfy gets the sentence as text, the name as its title in ASCII, and the token', () => {
  const target = { kind: 'ntfy', url: 'https://ntfy.sh/topic', token: 'tk_1' } as const
  const { url, headers, body } = chatRequest(target, told('Größe'), 'Europe/Berlin')
  expect([url, headers['authorization']]).toEqual(['https://ntfy.sh/topic', 'Bearer tk_1'])
  expect(headers['title']).toBe(`=?UTF-8?B?${Buffer.from('Größe').toString('base64')}?=`)
  expect(body).toBe('Größe sent an SOS (2026-01-01 01:00 Europe/Berlin)')
})

test('Telegram gets the sentence as plain text for its chat', () => {
  const target = { kind: 'telegram', token: '1:abc', chatId: '-7' } as const
  const { url, body } = chatRequest(target, told('Van'), 'UTC')
  expect(url).toBe('https://api.telegram.org/bot1:abc/sendMessage')
  const text = 'Van sent an SOS (2026-01-01 00:00 UTC)'
  expect(JSON.parse(body)).toMatchObject({ chat_id: '-7', text })
  expect(JSON.parse(body)).not.toHaveProperty('parse_mode')
})

test('text from devices mentions nobody in Slack and the chats that take its format', () => {
  const target = { kind: 'slack', url: 'https://hooks.example.org/x' } as const
  const { text } = JSON.parse(chatRequest(target, told(HOSTILE), 'UTC').body) as { text: string }
  expect(text).not.toMatch(/[<>\n\u2028]|@\w/)
  expect(text).toContain('&lt;!channel&gt;')
})

test('text from devices cannot break out of a line, a header or an element of a mail', () => {
  const { subject, text, html } = mailOf([told(HOSTILE, HOSTILE)], {
    zone: 'UTC',
    consoleUrl: 'https://gps.example.org/"x',
  })
  expect(subject).not.toMatch(/[\r\n\u2028]/)
  expect(text.trim().split('\n')).toHaveLength(2)
  expect(html.match(/<[a-z]+/g)).toEqual(['<meta', '<ul', '<li', '<a'])
  expect(html).toContain('href="https://gps.example.org/&quot;x/devices/van%2F1"')
})

test('many facts share a mail, which counts those that it does not list', () => {
  const all = Array.from({ length: 60 }, (_, n) => told(`Van ${n}`))
  const { subject, text } = mailOf(all, { zone: 'UTC', consoleUrl: undefined })
  expect(subject).toBe('Van 0 sent an SOS (2026-01-01 00:00 UTC) and 59 more')
  expect(text).toMatch(/Van 49 .*\n\nand 10 more\n$/)
})
