import { closeSync, openSync, writeSync } from 'node:fs'

/**
 * Every Linux has this file for power management: the lowest latency that any open file requests
 * applies.
 */
const DEVICE = '/dev/cpu_dma_latency'

/** Microseconds. */
const NONE = new Int32Array([0])

/**
 * Keeps the processors from halting until the returned function is called: idle ones poll instead.
 * When a virtual machine has halted a processor, its host takes milliseconds to give it back. Does
 * nothing without the right to write the device, which only root has.
 */
export function keepAwake(): () => void {
  let file: number
  try {
    file = openSync(DEVICE, 'r+')
  } catch {
    return () => undefined
  }
  writeSync(file, NONE)
  return () => closeSync(file)
}
