import { closeSync, openSync, writeSync } from 'node:fs'

/** Of power management, in every Linux: the least latency that an open file asks for counts. */
const DEVICE = '/dev/cpu_dma_latency'

/** Microseconds. */
const NONE = new Int32Array([0])

/**
 * Keeps the processors from halting until the function it gives is called: idle ones poll instead. One that a
 * virtual machine has halted is given back by its host milliseconds after it is needed. Does nothing for
 * those who may not write `device`: only root may.
 */
export function keepAwake(device = DEVICE): () => void {
  let file: number
  try {
    file = openSync(device, 'r+')
  } catch {
    return () => undefined
  }
  writeSync(file, NONE)
  return () => closeSync(file)
}
