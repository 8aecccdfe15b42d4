import { DEVICES } from './load/requests.ts'
import type { Meter, Shape } from './meter.ts'

export const SINGLE: Shape = { name: '64 connections, known devices', connections: 64, batch: 1 }
export const FIRST: Shape = {
  name: '64 connections, first reports',
  connections: 64,
  batch: 1,
  // No window has this many reports: each comes from another device.
  devices: Number.MAX_SAFE_INTEGER,
}
export const BATCHES: Shape = { name: 'batches of 100', connections: 8, batch: 100 }
/** For each second of a window. */
const WARM = { requests: 5_000, atMostMs: 7_000 }

/** Lets each device report: a first report costs several times as much as later ones. */
export async function letAllReport({ measure }: Meter, devices = DEVICES): Promise<void> {
  const shape = { ...BATCHES, name: 'warming up', devices }
  const seconds = Math.max(0.2, Math.min(2, devices / 2e4))
  for (let reports = 0; reports < devices;) {
    const { acknowledged, failed } = await measure(shape, { seconds })
    const isRefused = acknowledged === 0 && Object.keys(failed).length > 0
    if (isRefused) throw new Error(`refused: ${JSON.stringify(failed)}`)
    reports += acknowledged
  }
}

/** Sends load until the engine has compiled the hot code, if there is time. */
export async function compile({ measure }: Meter, shape: Shape, seconds: number): Promise<void> {
  const begin = performance.now()
  for (let requests = 0; requests < WARM.requests * seconds;) {
    const { answers } = await measure(shape, { seconds: Math.min(2, 3 * seconds) })
    if (answers === 0 || performance.now() - begin > WARM.atMostMs * seconds) return
    requests += answers
  }
}
