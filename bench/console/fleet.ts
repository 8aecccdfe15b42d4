import { submitTo } from '../../test/deployments.ts'
import { startEmbeddedCandidate } from '../candidates/embedded.ts'
import { forkTypescript } from '../fork.ts'
import { faultsOf, sendLoad, type Window } from '../load/loops.ts'
import type { LoadTarget } from '../load/requests.ts'
import type { Adapters } from '../order.ts'

const DEVICES = 10_000
const REPORTS_PER_SECOND = 200
const SECONDS_OF_A_DAY = 86_400
/** A day has 90 of them. */
const BATCH = 960

export type MovingFleet = Awaited<ReturnType<typeof startFleet>>

/** The service as started by `npm start`, with a fleet in which each device has reported once. */
export async function startFleet({ openFiles }: Adapters) {
  const service = await startEmbeddedCandidate(openFiles)
  const { adminUrl, url, key } = service
  const target: LoadTarget = { url, key, batch: 1, devices: DEVICES, fleet: 'towns' }
  const generator = forkTypescript('load/main.ts')
  const all = { ...target, batch: 100 }
  await generator.ask({ target: all, connections: 4, seconds: 5, perSecond: DEVICES / 100 / 5 })
  await service.settled()

  async function report(position: {
    readonly deviceId: string
    readonly latitude: number
    readonly longitude: number
  }): Promise<void> {
    const { status } = await submitTo(url, key, position)
    if (status !== 200) throw new Error(`a report of ${position.deviceId} got ${status}`)
  }

  return {
    adminUrl,
    report,
    /** Sends reports evenly until the returned function is called, which returns the failures. */
    startLoad(): () => Promise<string[]> {
      const load = { target, connections: 8, perSecond: REPORTS_PER_SECOND, seconds: 5 }
      const faults: string[] = []
      let isWanted = true
      const untilTheEnd = async () => {
        while (isWanted) faults.push(...faultsOf('reports', await generator.ask<Window>(load)))
        return faults
      }
      const ended = untilTheEnd()
      // After a failed measurement nobody awaits it.
      ended.catch(() => undefined)
      return () => {
        isWanted = false
        return ended
      }
    },
    /** Sends one report a second from midnight to midnight. */
    async reportDay(deviceId: string, from: number): Promise<void> {
      let second = 0
      const report = () => {
        const timestamp = new Date(from + second * 1_000).toISOString()
        return JSON.stringify({ deviceId, timestamp, ...driveAt(second++) })
      }
      const day = { connections: 1, perSecond: 30, seconds: SECONDS_OF_A_DAY / BATCH / 30 }
      const { failed } = await sendLoad({ url, key, batch: BATCH, report }, day)
      if (Object.keys(failed).length > 0) throw new Error(`refused: ${JSON.stringify(failed)}`)
      await service.settled()
    },
    async stop() {
      await generator.stop()
      await service.stop()
    },
  }
}

/** A drive in circles of circles, at varying speed, with a receiver's error. */
function driveAt(second: number) {
  const noise = () => (Math.random() - 0.5) * 4e-5
  return {
    latitude: 48 + 0.3 * Math.sin(second / 4_000) + 0.02 * Math.sin(second / 170) + noise(),
    longitude: 16 + 0.4 * Math.cos(second / 5_000) + 0.02 * Math.cos(second / 190) + noise(),
    altitude: 200 + 100 * Math.sin(second / 3_000),
    speed: 12 + 10 * Math.sin(second / 300),
    heading: (second / 10) % 360,
  }
}
