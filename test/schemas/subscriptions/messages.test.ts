import { expect, test } from '@jest/globals'
import { factItem } from '../../../schemas/subscriptions/item.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { chatRequest, mailOf } from '../../../schemas/subscriptions/messages.ts'
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

test('ntfy gets the sentence as text, the name as an ASCII title, and the token', () => {
  const target = { kind: 'ntfy', url: 'https://ntfy.sh/topic', token: 'tk_1' } as const
  const { url, headers, body } = chatRequest(target, told('Größe'), 'Europe/Berlin')
  expect([url, headers['authorization']]).toEqual(['https://ntfy.sh/topic', 'Bearer tk_1'])
  expect(headers['title']).toBe(`=?UTF-8?B?${Buffer.from('Größe').toString('base64')}?=`)
  expect(body).toBe('Größe sent an SOS (2026-01-01 01:00 Europe/Berlin)')
})

test.each([
  [{ type: 'alarm.reported', alarm: 'sos', late: false }, '5'],
  [{ type: 'rule.raised', rule: { id: 'r', name: 'Fast', revision: 1 } }, '4'],
  [{ type: 'device.online', previous: null }, undefined],
])('ntfy shows %j with the priority %s', (changes, priority) => {
  const target = { kind: 'ntfy', url: 'https://ntfy.sh/topic' } as const
  const { item, deviceName } = told('Van')
  if (item.kind !== 'fact') throw new Error('no fact')
  const fact = { ...item.fact, ...changes } as DeviceFact
  const { headers } = chatRequest(target, { item: factItem(fact), deviceName }, 'UTC')
  expect(headers['priority']).toBe(priority)
})

test.each([7, 2_147_483_648])(
  'Telegram gets the sentence for the topic %d of its chat',
  (threadId) => {
    const target = { kind: 'telegram', token: '1:abc', chatId: '-7', threadId } as const
    const body = JSON.parse(chatRequest(target, told('Van'), 'UTC').body) as object
    expect(body).toMatchObject({ chat_id: '-7', message_thread_id: threadId })
  },
)

test.each([
  ['van_7_*bold*', 'van\\_7\\_\\*bold\\*'],
  ['~~old~~ `x` ||secret||', '\\~\\~old\\~\\~ \\`x\\` \\|\\|secret\\|\\|'],
  ['[click](https://evil.example)', '\\[click\\](https://evil.example)'],
  ['# 1', '\\# 1'],
  ['- van', '\\- van'],
  ['12. van', '12\\. van'],
  ['a\\b van-7 (2.5 t)', 'a\\\\b van-7 (2.5 t)'],
])('a device called %s has that name in every chat', (name, inMarkdown) => {
  const text = (url: string) => {
    const { body } = chatRequest({ kind: 'slack', url }, told(name), 'UTC')
    expect(JSON.parse(body)).toMatchObject({ mrkdwn: false })
    return (JSON.parse(body) as { text: string }).text
  }
  const end = ' sent an SOS (2026-01-01 00:00 UTC)'
  expect(text('https://hooks.slack.com/services/T/B/x')).toBe(name + end)
  for (const url of [
    'https://discord.com/api/webhooks/1/x/slack',
    'https://chat.example.org/hooks/x',
  ]) {
    expect(text(url)).toBe(inMarkdown + end)
  }
  for (const target of [
    { kind: 'telegram', token: '1:abc', chatId: '-7' },
    { kind: 'ntfy', url: 'https://ntfy.sh/topic' },
  ] as const) {
    const { body, headers } = chatRequest(target, told(name), 'UTC')
    expect(body.startsWith('{') ? (JSON.parse(body) as { text: string }).text : body).toBe(
      name + end,
    )
    expect(Object.keys(headers)).not.toContain('markdown')
  }
})

test('Telegram gets the sentence as plain text for its chat', () => {
  const target = { kind: 'telegram', token: '1:abc', chatId: '-7' } as const
  const { url, body } = chatRequest(target, told('Van'), 'UTC')
  expect(url).toBe('https://api.telegram.org/bot1:abc/sendMessage')
  const text = 'Van sent an SOS (2026-01-01 00:00 UTC)'
  expect(JSON.parse(body)).toMatchObject({ chat_id: '-7', text })
  expect(JSON.parse(body)).not.toHaveProperty('parse_mode')
})

test('text from devices mentions nobody in Slack and chats with its format', () => {
  const target = { kind: 'slack', url: 'https://hooks.example.org/x' } as const
  const { text } = JSON.parse(chatRequest(target, told(HOSTILE), 'UTC').body) as { text: string }
  expect(text).not.toMatch(/[<>\n\u2028]|@\w/)
  expect(text).toContain('&lt;!channel&gt;')
})

test('text from devices cannot break out of a line, header or element of a mail', () => {
  const { subject, text, html } = mailOf([told(HOSTILE, HOSTILE)], {
    zone: 'UTC',
    consoleUrl: 'https://gps.example.org/"x',
  })
  expect(subject).not.toMatch(/[\r\n\u2028]/)
  expect(text.trim().split('\n')).toHaveLength(2)
  expect(html.match(/<[a-z]+/g)).toEqual(['<meta', '<ul', '<li', '<a'])
  expect(html).toContain('href="https://gps.example.org/&quot;x/devices/van%2F1"')
})

test('many facts share a mail, which counts the facts that it does not list', () => {
  const all = Array.from({ length: 60 }, (_, n) => told(`Van ${n}`))
  const { subject, text } = mailOf(all, { zone: 'UTC', consoleUrl: undefined })
  expect(subject).toBe('Van 0 sent an SOS (2026-01-01 00:00 UTC) and 59 more')
  expect(text).toMatch(/Van 49 .*\n\nand 10 more\n$/)
})
