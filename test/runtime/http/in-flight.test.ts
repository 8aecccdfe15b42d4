import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { HttpAnswer, InFlight } from '../../../runtime/http/in-flight.ts'

const KIB = 1024
/** Allows 256 KiB per key and 768 KiB per account, and reserves 128 KiB for small bodies. */
const newLoad = () => new InFlight({ mostBytes: 1024 * KIB })
const request = (id: string, accountId = `account of ${id}`) => ({
  heldBytes: 0,
  key: { id, accountId },
})

test('requests of one key reserve at most a quarter of the bytes', () => {
  const load = newLoad()
  const [one, other] = [request('a'), request('a')]
  expect(load.hold(one, 200 * KIB)).toBe(true)
  expect(load.hold(other, 56 * KIB)).toBe(true)
  expect(load.hold(other, 1)).toBe(false)
  expect(load.hold(request('a'), 1)).toBe(false)
  expect(load.hold(request('b'), 256 * KIB)).toBe(true)
  load.release(one)
  expect(load.hold(other, 200 * KIB)).toBe(true)
  expect(load.hold(other, 1)).toBe(false)
})

test("an account's keys reserve at most three quarters of the bytes, not counting small bodies", () => {
  const load = newLoad()
  for (const id of ['a', 'b', 'c']) expect(load.hold(request(id, 'one'), 256 * KIB)).toBe(true)
  expect(load.hold(request('d', 'one'), 16 * KIB + 1)).toBe(false)
  expect(load.hold(request('e', 'other'), 128 * KIB)).toBe(true)
  expect(load.hold(request('d', 'one'), 16 * KIB)).toBe(true)
})

test('an eighth of the bytes is reserved for bodies of at most 16 KiB', () => {
  const load = newLoad()
  for (const id of ['a', 'b', 'c']) load.hold(request(id), 256 * KIB)
  load.hold(request('d'), 128 * KIB)
  const growing = request('e')
  expect(load.hold(growing, 16 * KIB)).toBe(true)
  expect(load.hold(growing, 1)).toBe(false)
  for (let n = 1; n < 8; n += 1) expect(load.hold(request(`f${n}`), 16 * KIB)).toBe(true)
  expect(load.hold(request('g'), 1)).toBe(false)
})

test('bytes are released once, however often `release` is called', () => {
  const load = newLoad()
  const holder = request('a')
  load.hold(holder, 256 * KIB)
  load.release(holder)
  load.release(holder)
  expect(load.hold(request('a'), 256 * KIB)).toBe(true)
  expect(load.hold(request('a'), 1)).toBe(false)
})

test('released bytes are available to the account again', () => {
  const load = newLoad()
  for (const time of ['first', 'second']) {
    const held = ['a', 'b', 'c'].map((id) => request(`${id} ${time}`, 'one'))
    expect(held.map((holder) => load.hold(holder, 256 * KIB))).toEqual([true, true, true])
    for (const holder of held) load.release(holder)
  }
})

function begin(load: InFlight): HttpAnswer {
  const answer = new HttpAnswer(new IncomingMessage(new Socket()))
  answer.inFlight = load
  answer.takePlace()
  expect(answer.takePlaceOf('acc-1')).toBe(true)
  return answer
}

test("a request rejected after its body by the account's share reserves nothing", () => {
  const load = new InFlight({ mostRequests: 4 })
  const first = begin(load)
  first.beginBody()
  const second = begin(load)
  second.beginBody()
  expect([first.endBody(), second.endBody()]).toEqual([true, false])
  first.giveUpPlace()
  expect(load.accounts.areTaken('acc-1')).toBe(false)
  second.giveUpPlace()
  expect(load.accounts.areFree).toBe(true)
})

test.each(['before', 'while'])(
  'a request whose client goes %s its body is read gives up its slot once',
  (time) => {
    const load = new InFlight({ mostRequests: 1 })
    const answer = begin(load)
    if (time === 'before') answer.giveUpPlace()
    answer.beginBody()
    answer.giveUpPlace()
    answer.endBody()
    expect(load.accounts.areFree).toBe(true)
    expect([load.begin(), load.begin()]).toEqual([true, false])
  },
)
