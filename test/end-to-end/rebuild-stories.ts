import { expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { expectExactlyOnce } from '../faults/invariants.ts'
import { acceptsAgain, devicesOf, startLoad, type Load } from '../faults/load.ts'
import type { RunningProgram } from '../running-programs.ts'

/** A running service, and how to start `npm run rebuild` on its data. */
export type Rebuildable = {
  readonly ingestUrl: string
  readonly adminUrl: string
  readonly key: string
  readonly rebuild: (...args: string[]) => RunningProgram
}

/** The promises of a rebuild while the service runs under load, in every deployment. */
export function rebuildStories(
  start: () => Promise<Rebuildable>,
  { concurrency }: { concurrency: number },
): void {
  test('rebuilds under load lose, duplicate and hide nothing, even when one is killed', async () => {
    const service = await start()
    const loads: Load[] = []
    const beating: ReturnType<typeof keepBeating>[] = []
    const startLoadAgain = async () => {
      const { ingestUrl, key } = service
      const load = startLoad({ urls: [ingestUrl], key, concurrency, pauseMs: 10 })
      loads.push(load)
      await eventually(() => load.acknowledged.length >= 500, { withinMs: 180_000 })
      beating.push(keepBeating(service, devicesOf(load)))
      return load
    }
    /**
     * Each device's last report is a position, so its record shows when the device was last seen.
     */
    const stopLoad = async (load: Load) => {
      for (const beats of beating) await beats.stop()
      await acceptsAgain(load)
      await load.stop()
    }
    const acknowledged = () => loads.flatMap((load) => load.acknowledged)
    const reading = keepReading(service, acknowledged)
    try {
      const load = await startLoadAgain()
      await expectSwitched(service.rebuild(), 'Generation 2 is in use, generation 1 is removed')

      const killed = service.rebuild()
      await eventually(() => killed.output().includes('building generation 3'), {
        withinMs: 60_000,
        everyMs: 1,
      })
      killed.process.kill('SIGKILL')
      expect(await killed.ended).toBe('SIGKILL')
      const before = load.acknowledged.length
      await eventually(() => load.acknowledged.length > before + 100, { withinMs: 60_000 })
      await stopLoad(load)

      // If rebuilds hold a lease, the killed one counts as running until it expires.
      const next = await eventually(
        async () => {
          const refused = service.rebuild('--force')
          await refused.ended
          return !refused.output().includes('Another rebuild is in progress') && refused
        },
        // Each attempt starts a program.
        { withinMs: 90_000, everyMs: 5_000 },
      )
      await expectSwitched(next, 'Generation 4 is in use, generation 2 is removed')

      const last = await startLoadAgain()
      await expectSwitched(service.rebuild(), 'Generation 5 is in use, generation 4 is removed')
      await stopLoad(last)
    } finally {
      await reading.stop()
      for (const beats of beating) await beats.stop()
      for (const load of loads) await load.stop()
    }
    const refused = loads.flatMap((load) => load.refused)
    process.stdout.write(
      `rebuilds under load: ${acknowledged().length} acknowledged, ${refused.length} refused, ` +
        `${reading.read()} read again and again, ${reading.vanished.length} vanished\n`,
    )
    expect(reading.vanished).toEqual([])
    expect(beating.every((beats) => beats.taken() > 20)).toBe(true)
    expect(reading.read()).toBeGreaterThan(20)
    expect(refused.filter(({ status }) => status !== 429)).toEqual([])
    await expectExactlyOnce(service, {
      acknowledged: acknowledged(),
      sent: loads.flatMap((load) => load.sent),
    })
  }, 600_000)
}

async function expectSwitched(rebuild: RunningProgram, text: string): Promise<void> {
  expect([await rebuild.ended, rebuild.output()]).toEqual([
    0,
    expect.stringContaining(`They are equal. ${text}`),
  ])
}

/** Sends heartbeats of devices sequentially. */
function keepBeating(
  { ingestUrl, key }: Pick<Rebuildable, 'ingestUrl' | 'key'>,
  devices: readonly string[],
) {
  let taken = 0
  let stopped = false
  const running = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      const id = devices[turn % devices.length]
      const answer = await fetch(`${ingestUrl}/api/v1/senders/osmand?key=${key}&id=${id}`)
      await answer.arrayBuffer()
      if (answer.status === 200) taken += 1
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return {
    taken: () => taken,
    async stop() {
      stopped = true
      await running
    },
  }
}

/** Reads acknowledged records repeatedly; once visible, a record must stay visible. */
function keepReading(
  service: Pick<Rebuildable, 'adminUrl' | 'key'>,
  acknowledged: () => readonly { recordId: string; deviceId: string }[],
) {
  const readable = new Set<string>()
  const vanished: string[] = []
  let stopped = false
  const headers = { Authorization: `Bearer ${service.key}` }
  const running = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      const all = acknowledged()
      const recordId = all[(turn * 37) % Math.max(1, all.length)]?.recordId
      if (recordId !== undefined) {
        const answer = await fetch(`${service.adminUrl}/api/v1/positions/${recordId}`, { headers })
        await answer.arrayBuffer()
        if (answer.status === 200) readable.add(recordId)
        else if (readable.has(recordId)) vanished.push(`${recordId}: ${answer.status}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  return {
    vanished,
    read: () => readable.size,
    async stop() {
      stopped = true
      await running
    },
  }
}
