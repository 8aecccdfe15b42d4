import { expect } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { signIn } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { markOf, type QueueRun } from './run-queue.ts'

type Rejection = { readonly message: string; readonly body?: string }

/**
 * Checks that every queue is empty, every valid point is stored once and nothing else is, every
 * impossible point is listed as a rejection, and each device was last seen at its last heartbeat.
 */
export async function expectDelivered(
  service: { readonly adminUrl: string; readonly key: string },
  runs: Readonly<Record<string, QueueRun>>,
  { withinMs }: { readonly withinMs: number },
): Promise<void> {
  const deadline = Date.now() + withinMs
  const withinLeft = () => ({ withinMs: Math.max(1, deadline - Date.now()), everyMs: 100 })
  const all = Object.entries(runs)
  await eventually(() => {
    expect(all.filter(([, { waiting }]) => waiting() > 0).map(([name]) => name)).toEqual([])
    return true
  }, withinLeft())

  const api = adminReader(service)
  const { call } = await signIn(service.adminUrl)
  for (const [name, { app, items, key }] of all) {
    const valid = items.flatMap((item) =>
      item.kind === 'point' && markOf(item) === undefined ? [pointText(item)] : [],
    )
    const found = async () => {
      const positions = await api.positions(app.deviceId)
      return { name, points: positions.map((one) => pointText({ ...one, at: one.timestamp })) }
    }
    await eventually(async () => (await found()).points.length >= valid.length, withinLeft()).catch(
      () => undefined,
    )
    expect(await found()).toEqual({ name, points: valid })
    const status = await api.device(app.deviceId)
    expect(status.reportCount).toBe(valid.length)

    const marks = items.flatMap((item) => markOf(item) ?? [])
    expect(marks.length).toBeGreaterThan(1)
    await eventually(async () => {
      const { items: shown } = await call<{ items: Rejection[] }>(
        'GET',
        `/rejections?keyId=${key.id}&limit=1000`,
      )
      const text = shown.map(({ message, body = '' }) => `${message} ${body}`).join('\n')
      expect({ name, missing: marks.filter((mark) => !text.includes(mark)) }).toEqual({
        name,
        missing: [],
      })
      return true
    }, withinLeft())

    if (items.at(-1)?.kind !== 'heartbeat') continue
    const received = (await api.positions(app.deviceId)).map(({ receivedAt }) => receivedAt).sort()
    await eventually(async () => {
      const { lastSeenAt } = await api.device(app.deviceId)
      return lastSeenAt > received.at(-1)!
    }, withinLeft())
  }
}

function pointText(point: {
  readonly latitude: number
  readonly longitude: number
  readonly at: number | string
}): string {
  return `${new Date(point.at).toISOString()} ${point.latitude} ${point.longitude}`
}
