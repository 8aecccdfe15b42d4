import { fork, type ChildProcess, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A child process of the bench, which exits with the bench. */
export type Child = {
  readonly pid: number
  /** Sends a message and waits for its answer. */
  ask<Answer>(message: Serializable): Promise<Answer>
  /** The next message. Rejects if the process ends instead. */
  message<Answer>(): Promise<Answer>
  stop(): Promise<void>
}

/** Runs `bench/FILE` in a child process. */
export function forkTypescript(file: string, args: readonly string[] = []): Child {
  const child: ChildProcess = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--import', new URL('typescript.mjs', import.meta.url).href],
  })
  const ended = once(child, 'exit')
  const { pid } = child
  if (pid === undefined) throw new Error('cannot start node')

  function message<Answer>(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const end = (code: number | null) => {
        child.off('message', answer)
        reject(new Error(`bench/${file} ended with code ${code}`))
      }
      const answer = (value: unknown) => {
        child.off('exit', end)
        resolve(value as Answer)
      }
      child.once('message', answer)
      child.once('exit', end)
    })
  }

  return {
    pid,
    message,
    async ask<Answer>(question: Serializable) {
      const answered = message<Answer>()
      child.send(question)
      return answered
    },
    async stop() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
