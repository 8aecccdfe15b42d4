import { expect } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { readTopic } from '../event-log/kafka/harness.ts'

/**
 * Devices whose every report is an alarm, and so a fact: each is resent until acknowledged, one
 * after another.
 */
export type Alarms = {
  /** Each device's alarms, in the order sent. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
  stop(): Promise<void>
}

const DEVICES = 3
let runs = 0

export function startAlarms({ urls, key }: { urls: readonly string[]; key: string }): Alarms {
  runs += 1
  const run = runs
  const acknowledged = new Map<string, string[]>()
  let stopped = false
  const senders = Array.from({ length: DEVICES }, async (_, n) => {
    const deviceId = `alarm-${run}-${n}`
    acknowledged.set(deviceId, [])
    for (let turn = 0; !stopped; turn += 1) {
      const alarm = `a${turn}`
      const report = {
        deviceId,
        latitude: n,
        longitude: turn / 1e6,
        timestamp: new Date().toISOString(),
        attributes: { alarm },
      }
      await eventually(() => submit(urls[turn % urls.length] ?? '', report), {
        withinMs: 60_000,
        everyMs: 20,
      })
      acknowledged.get(deviceId)?.push(alarm)
    }
  })

  async function submit(url: string, report: object): Promise<boolean> {
    const answer = await fetch(`${url}/api/v1/gps/submit`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(report),
    }).catch(() => undefined)
    return answer?.status === 200
  }

  return {
    acknowledged,
    async stop() {
      stopped = true
      await Promise.all(senders)
    },
  }
}

/**
 * Waits until every alarm is listed as a fact, then checks the topic: each fact is there at least
 * once, with a single sequence, and a device's facts are in order.
 */
export async function expectAlarmsInTopic(
  { adminUrl, key, brokers }: { adminUrl: string; key: string; brokers: readonly string[] },
  { acknowledged }: Alarms,
): Promise<{ readonly facts: number; readonly repeated: number }> {
  const listed = new Map<string, readonly Listed[]>()
  for (const [deviceId, alarms] of acknowledged) {
    // The device's first fact is that it came online.
    const wanted = alarms.length + 1
    listed.set(
      deviceId,
      await eventually(
        async () => {
          const facts = await listFacts({ adminUrl, key }, deviceId)
          return facts.length >= wanted && facts
        },
        { withinMs: 120_000, everyMs: 200 },
      ),
    )
  }
  const most = [...listed.values()].reduce((sum, facts) => sum + facts.length, 0)
  const messages = await readTopic(brokers, 'gps.device-events', most)
  const published = messages.flatMap(({ headers, value }) => {
    const fact = JSON.parse(value?.toString() ?? 'null') as Listed | null
    if (fact === null || !acknowledged.has(fact.deviceId)) return []
    expect(String(headers?.['ce_id'])).toBe(fact.id)
    return [fact]
  })
  let repeated = 0
  for (const [deviceId, alarms] of acknowledged) {
    const own = published.filter((fact) => fact.deviceId === deviceId)
    const first = own.filter(({ id }, index) => own.findIndex((one) => one.id === id) === index)
    repeated += own.length - first.length
    const inOrder = first.map(({ sequence }) => sequence)
    expect(inOrder).toEqual(Array.from({ length: alarms.length + 1 }, (_, index) => index + 1))
    expect(first.flatMap(({ alarm }) => alarm ?? [])).toEqual(alarms)
    const ids = (facts: readonly Listed[]) => facts.map(({ id }) => id).sort()
    expect(ids(first)).toEqual(ids(listed.get(deviceId) ?? []))
  }
  return { facts: published.length - repeated, repeated }
}

type Listed = {
  readonly id: string
  readonly deviceId: string
  readonly sequence: number
  readonly alarm?: string
}

async function listFacts(
  { adminUrl, key }: { adminUrl: string; key: string },
  deviceId: string,
): Promise<Listed[]> {
  const found: Listed[] = []
  for (let cursor = ''; ;) {
    const path = `/api/v1/facts?limit=1000&deviceId=${deviceId}${cursor}`
    const answer = await fetch(adminUrl + path, { headers: { Authorization: `Bearer ${key}` } })
    const { data } = (await answer.json()) as {
      data: { items: Listed[]; nextCursor: string | null }
    }
    found.push(...data.items)
    if (data.nextCursor === null) return found
    cursor = `&cursor=${data.nextCursor}`
  }
}
