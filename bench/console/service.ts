import { operatorEnv } from '../../test/deployments.ts'
import { startEmbeddedCandidate } from '../candidates/embedded.ts'
import { forkTypescript } from '../fork.ts'
import { faultsOf, type Window } from '../load/loops.ts'
import type { LoadTarget } from '../load/requests.ts'
import type { Order } from '../order.ts'

const DEVICES = 10_000
const REPORTS_PER_SECOND = 200
const SECONDS_OF_A_DAY = 86_400
const LOAD_SECONDS = 5

export type Service = Awaited<ReturnType<typeof startService>>

/**
 * The service as started by `npm start`, with a fleet in which each device has reported once.
 *
 * @param streets is a file of streets; then all devices are in its town.
 */
export async function startService(
  { adapters }: Pick<Order, 'adapters'>,
  { streets }: { readonly streets?: string },
) {
  const env = streets === undefined ? {} : { MAP_PMTILES: `Town=${streets}` }
  const service = await startEmbeddedCandidate(adapters.openFiles, env)
  const { adminUrl, url, key } = service
  const fleet = streets === undefined ? 'towns' : 'town'
  const target: LoadTarget = { url, key, batch: 1, devices: DEVICES, fleet }
  const generator = forkTypescript('load/main.ts')
  const all = { ...target, batch: 100 }
  const perSecond = DEVICES / all.batch / 5
  await generator.ask({ target: all, connections: 4, seconds: 5, perSecond })
  await service.settled()
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = operatorEnv()

  async function report(...reports: readonly object[]): Promise<void> {
    const answer = await fetch(`${url}/api/v1/gps/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reports }),
    })
    const { data } = (await answer.json()) as { data?: { rejected: number } }
    if (data?.rejected !== 0) throw new Error(`reports were refused: ${JSON.stringify(data)}`)
  }

  return {
    adminUrl,
    email,
    password,
    report,
    /** Sends reports evenly until the returned function is called, which returns the failures. */
    startLoad(): () => Promise<string[]> {
      const load = { connections: 8, perSecond: REPORTS_PER_SECOND, seconds: LOAD_SECONDS }
      const faults: string[] = []
      let isWanted = true
      const untilTheEnd = async () => {
        while (isWanted) {
          const window = await generator.ask<Window>({ target, ...load })
          faults.push(...faultsOf('reports', window))
        }
        return faults
      }
      const ended = untilTheEnd()
      return () => {
        isWanted = false
        return ended
      }
    },
    /** Sends one report a second from midnight to midnight. */
    async reportDay(deviceId: string, from: number): Promise<void> {
      for (let second = 0; second < SECONDS_OF_A_DAY; second += 1_000) {
        const count = Math.min(1_000, SECONDS_OF_A_DAY - second)
        await report(
          ...Array.from({ length: count }, (_, index) => drive(deviceId, from, second + index)),
        )
      }
      await service.settled()
    },
    async stop() {
      await generator.stop()
      await service.stop()
    },
  }
}

/** A drive in circles of circles, faster and slower, with a receiver's error. */
function drive(deviceId: string, from: number, second: number) {
  const noise = () => (Math.random() - 0.5) * 4e-5
  return {
    deviceId,
    latitude: 48 + 0.3 * Math.sin(second / 4_000) + 0.02 * Math.sin(second / 170) + noise(),
    longitude: 16 + 0.4 * Math.cos(second / 5_000) + 0.02 * Math.cos(second / 190) + noise(),
    altitude: 200 + 100 * Math.sin(second / 3_000),
    speed: 12 + 10 * Math.sin(second / 300),
    heading: (second / 10) % 360,
    timestamp: new Date(from + second * 1_000).toISOString(),
  }
}
