import { forkTypescript } from '../fork.ts'
import type { Target } from './requests.ts'
import type { Window } from './tally.ts'

export type Order = { readonly target: Target; readonly connections: number } & (
  | { readonly kind: 'saturate'; readonly seconds: number }
  | {
      readonly kind: 'pace'
      readonly seconds: number
      readonly perSecond: number
      readonly leadInSeconds?: number
    }
)

export type Generator = {
  run(order: Order): Promise<Window>
  stop(): Promise<void>
}

/** Starts the load generator. */
export function startGenerator(): Generator {
  const child = forkTypescript('load/main.ts')
  return {
    async run(order) {
      const answer = await child.ask<{ done: Window } | { failed: string }>(order)
      if ('failed' in answer) throw new Error(`the load generator failed: ${answer.failed}`)
      return answer.done
    },
    stop: () => child.stop(),
  }
}
