import { createRequire } from 'node:module'
import { restWhenIdle } from './idle-connections.ts'
import { tolerateMissingLeaders } from './missing-leaders.ts'
import { encodeInOnePass } from './produce-request.ts'

let isPatched = false

/**
 * Replaces three parts of kafkajs, once in a process. They reach into its files, so its version is
 * pinned exactly.
 */
export function patchKafkajs(): void {
  if (isPatched) return
  isPatched = true
  const load = createRequire(import.meta.url)
  tolerateMissingLeaders(load)
  restWhenIdle(load)
  encodeInOnePass(load)
}
