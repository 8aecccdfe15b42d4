import { fork, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** From a child process to the bench. */
type Answer = { readonly done: unknown } | { readonly failed: string }

/** A child process of the bench, which exits with the bench. */
export type Child = {
  readonly pid: number
  /** Sends an order, one at a time. Rejects if it fails, or if the process ends before. */
  ask<Done>(order: Serializable): Promise<Done>
  stop(): Promise<void>
}

/** Runs `bench/FILE`, which carries out orders, in a child process. */
export function forkTypescript(file: string): Child {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', new URL('typescript.mjs', import.meta.url).href],
  })
  const ended = once(child, 'exit')
  const { pid } = child
  if (pid === undefined) throw new Error('cannot start node')

  return {
    pid,
    async ask<Done>(order: Serializable) {
      child.send(order)
      const [answer] = (await Promise.race([
        once(child, 'message'),
        ended.then(([code]) => {
          throw new Error(`bench/${file} ended with code ${code}`)
        }),
      ])) as [Answer]
      if ('failed' in answer) throw new Error(`bench/${file} failed: ${answer.failed}`)
      return answer.done as Done
    },
    async stop() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** Runs a job of the main program in a separate process. */
export async function runJob<Done>(job: string, order: object): Promise<Done> {
  const child = forkTypescript('main.ts')
  try {
    return await child.ask<Done>({ job, order })
  } finally {
    await child.stop()
  }
}

/** Makes this process a child of the bench: it carries out orders, and exits with the bench. */
export function carryOut<Order>(work: (order: Order) => Promise<unknown>): void {
  const answer = (message: Answer) => process.send?.(message)
  process.on('message', (order: Order) => {
    work(order).then(
      (done) => answer({ done }),
      (error: unknown) =>
        answer({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
}

/** Prints the current step: on standard error, so that the tables can be piped. */
export function progress(doing: string): void {
  process.stderr.write(`${new Date().toTimeString().slice(0, 8)}  ${doing}\n`)
}
