import type { MessagePort, Worker } from 'node:worker_threads'
import { DependencyError } from '../runtime/errors.ts'

type Calls<Names> = { readonly [Name in keyof Names]: (...args: never[]) => Promise<unknown> }

/** The other thread. */
export type Peer<Theirs extends Calls<Theirs>> = {
  /**
   * Calls a function of the other thread; arguments and results are copied. Rejects with the
   * function's error, `retriable` included.
   * @throws {DependencyError} retriable, if the other thread has ended.
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): ReturnType<Theirs[Name]>
  /** Calls the other thread without waiting for a result. */
  notify<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void
  /** The other thread has ended: pending and later calls are rejected. */
  lost(): void
}

type Message =
  | { readonly call: string; readonly args: unknown[]; readonly id: number | undefined }
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly answerTo: number; readonly failure: Failure }

type Failure = { readonly message: string; readonly retriable: boolean | undefined }

/** Lets two threads call each other; `mine`: the functions that this one offers the other. */
export function joinThread<Mine extends Calls<Mine>, Theirs extends Calls<Theirs>>(
  port: Worker | MessagePort,
  mine: Mine,
): Peer<Theirs> {
  const asked = new Map<number, PromiseWithResolvers>()
  let lastId = 0
  let gone = false

  port.on('message', (message: Message) => {
    if ('call' in message) return void answer(message)
    const { resolve, reject } = asked.get(message.answerTo) ?? { resolve() {}, reject() {} }
    asked.delete(message.answerTo)
    if ('failure' in message) reject(errorOf(message.failure))
    else resolve(message.value)
  })

  async function answer({ call, args, id }: Extract<Message, { call: string }>): Promise<void> {
    let outcome: { value: unknown } | { failure: Failure }
    try {
      outcome = { value: await mine[call as keyof Mine](...(args as never[])) }
    } catch (error) {
      outcome = { failure: failureOf(error) }
    }
    if (id !== undefined) port.postMessage({ answerTo: id, ...outcome } satisfies Message)
  }

  return {
    call(name, ...args) {
      const answered = new Promise((resolve, reject) => {
        if (gone) return reject(lostThreadError())
        lastId += 1
        asked.set(lastId, { resolve, reject })
        port.postMessage({ call: name, args, id: lastId } satisfies Message)
      })
      return answered as ReturnType<Theirs[typeof name]>
    },

    notify(name, ...args) {
      if (!gone) port.postMessage({ call: name, args, id: undefined } satisfies Message)
    },

    lost() {
      gone = true
      for (const { reject } of asked.values()) reject(lostThreadError())
      asked.clear()
    },
  }
}

type PromiseWithResolvers = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  return { message, retriable: error instanceof DependencyError ? error.retriable : undefined }
}

function errorOf({ message, retriable }: Failure): Error {
  return retriable === undefined ? new Error(message) : new DependencyError(message, { retriable })
}

function lostThreadError(): DependencyError {
  return new DependencyError('the other thread of this process has ended', { retriable: true })
}

/**
 * Calls `call` immediately, but at most once every `everyMs`; calls in between are combined into
 * one at the end of the interval.
 */
export function limitPace(everyMs: number, call: () => void): () => void {
  let calledAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  function callNow(): void {
    timer = undefined
    calledAt = performance.now()
    call()
  }

  return () => {
    if (timer !== undefined) return
    const waitMs = calledAt + everyMs - performance.now()
    if (waitMs <= 0) callNow()
    else timer = setTimeout(callNow, waitMs).unref()
  }
}
