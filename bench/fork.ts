import { fork, type ChildProcess, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Prints the current step of the bench. */
export type BenchProgress = (doing: string) => void

/** From a child process to the bench. */
type Message = { readonly doing: string } | { readonly done: unknown } | { readonly failed: string }

/** A child process of the bench, which exits with the bench. */
export type Child = {
  readonly pid: number
  /** Sends an order, one at a time. Rejects if it fails, or if the process ends instead. */
  ask<Done>(order: Serializable): Promise<Done>
  stop(): Promise<void>
}

/** Runs `bench/FILE`, which carries out orders, in a child process. */
export function forkTypescript(file: string, progress: BenchProgress = () => undefined): Child {
  const child: ChildProcess = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', new URL('typescript.mjs', import.meta.url).href],
  })
  const ended = once(child, 'exit')
  const { pid } = child
  if (pid === undefined) throw new Error('cannot start node')

  return {
    pid,
    ask<Done>(order: Serializable) {
      return new Promise<Done>((resolve, reject) => {
        const onExit = (code: number | null) => {
          child.off('message', onMessage)
          reject(new Error(`bench/${file} ended with code ${code}`))
        }
        const onMessage = (message: Message) => {
          if ('doing' in message) return progress(message.doing)
          child.off('message', onMessage)
          child.off('exit', onExit)
          if ('done' in message) resolve(message.done as Done)
          else reject(new Error(`bench/${file} failed: ${message.failed}`))
        }
        child.on('message', onMessage)
        child.on('exit', onExit)
        child.send(order)
      })
    },
    async stop() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** Has a job of the main program done in a separate process. */
export async function runJob<Done>(
  job: string,
  order: object,
  progress: BenchProgress,
): Promise<Done> {
  const child = forkTypescript('main.ts', progress)
  try {
    return await child.ask<Done>({ job, order })
  } finally {
    await child.stop()
  }
}

/** Makes this process a child of the bench: it carries out orders, and exits with the bench. */
export function carryOut<Order>(
  work: (order: Order, progress: BenchProgress) => Promise<unknown>,
): void {
  const send = (message: Message) => process.send?.(message)
  process.on('message', (order: Order) => {
    work(order, (doing) => send({ doing })).then(
      (done) => send({ done }),
      (error: unknown) => {
        send({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      },
    )
  })
  process.on('disconnect', () => process.exit())
}
