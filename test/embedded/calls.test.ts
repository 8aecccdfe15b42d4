import { MessageChannel, Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { joinThread, limitPace, type Peer } from '../../embedded/calls.ts'
import { awaitEnd } from '../../embedded/threads.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { fakeTimers } from '../fake-timers.ts'

const far = {
  double: async (numbers: ReadonlyMap<string, number>) =>
    new Map([...numbers].map(([name, number]) => [name, 2 * number])),
  refuse: async (retriable: boolean): Promise<void> => {
    throw new DependencyError('the disk is full', { retriable })
  },
  fail: async (): Promise<void> => {
    throw new RangeError('a fault of ours')
  },
  never: () => new Promise<void>(() => undefined),
}

let channel: MessageChannel
let peer: Peer<typeof far>

beforeEach(() => {
  channel = new MessageChannel()
  peer = joinThread<object, typeof far>(channel.port1, {})
  joinThread(channel.port2, far)
})

afterEach(() => channel.port1.close())

test('each call gets its result from the other thread', async () => {
  const [one, two] = await Promise.all([
    peer.call('double', new Map([['a', 1]])),
    peer.call('double', new Map([['a', 2]])),
  ])
  expect([one.get('a'), two.get('a')]).toEqual([2, 4])
})

test.each([true, false])('a failure tells the caller whether to retry: %s', async (retriable) => {
  await expect(peer.call('refuse', retriable)).rejects.toMatchObject({
    name: 'DependencyError',
    message: 'the disk is full',
    retriable,
  })
})

test('a programming error is not a DependencyError', async () => {
  const error = await peer.call('fail').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ message: 'a fault of ours' })
  expect(error).not.toBeInstanceOf(DependencyError)
})

test('pending and later calls are rejected when the other thread ends', async () => {
  const waiting = peer.call('never')
  peer.lost()
  const lost = { name: 'DependencyError', retriable: true }
  await expect(waiting).rejects.toMatchObject(lost)
  await expect(peer.call('never')).rejects.toMatchObject(lost)
})

test('a worker thread that dies ends the process and logs the reason', async () => {
  for (const [program, message] of [
    ['process.exit(0)', 'the worker thread has ended with code 0'],
    ['throw new Error("out of its depth")', 'out of its depth'],
  ] as const) {
    const failures: unknown[] = []
    const thread = new Worker(program, { eval: true })
    const lifecycle = {
      stopping: new AbortController().signal,
      fail: (error: unknown, what: string) => void failures.push([error, what]),
    }
    const ended = awaitEnd(thread, { worker: peer, lifecycle })
    const code = await new Promise((resolve) => thread.once('exit', resolve))
    expect(failures).toMatchObject([[{ message }, 'the worker thread has ended']])
    await (code === 0 ? ended : expect(ended).rejects.toThrow('with code 1'))
  }
})

test('a worker thread that ends during shutdown is not a failure', async () => {
  const thread = new Worker('process.exit(0)', { eval: true })
  const lifecycle = {
    stopping: AbortSignal.abort(),
    fail: () => {
      throw new Error('it was asked to')
    },
  }
  await awaitEnd(thread, { worker: peer, lifecycle })
})

test('the first of many figures is printed immediately, the next at intervals, and always the last', () => {
  fakeTimers('performance', 'setTimeout')
  const told: number[] = []
  let said = 0
  const tell = limitPace(20, () => told.push(said))
  for (let ms = 0; ms < 50; ms += 1) {
    said += 1
    tell()
    jest.advanceTimersByTime(1)
  }
  expect(told).toEqual([1, 20, 40])
  jest.advanceTimersByTime(20)
  expect(told).toEqual([1, 20, 40, 50])
  jest.advanceTimersByTime(1_000)
  expect(told).toHaveLength(4)
  jest.useRealTimers()
})
