import { expect, test } from '@jest/globals'
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { keepAwake } from '../../bench/keep-awake.ts'

const DEVICE = '/dev/cpu_dma_latency'

const onlyRoot = mayAsk() ? test : test.skip

onlyRoot('processors may take no time to wake up, until they are let go', () => {
  const letSleep = keepAwake()
  expect(wakeUpMicros()).toBe(0)
  letSleep()
  // What is asked for lasts as long as the file is open.
  expect(openFiles()).not.toContain(DEVICE)
})

test('who may not ask for it measures all the same', () => {
  const letSleep = keepAwake('/dev/there-is-no-such-device')
  letSleep()
})

function mayAsk(): boolean {
  try {
    accessSync(DEVICE, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function wakeUpMicros(): number {
  const device = openSync(DEVICE, 'r')
  const micros = new Int32Array(1)
  readSync(device, micros)
  closeSync(device)
  return micros[0]!
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)]
    } catch {
      return []
    }
  })
}
