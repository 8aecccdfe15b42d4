import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE

/** The service of the running test, and the headers of an operator's session. */
export let harness: AdminHarness
export let headers: Record<string, string>

export async function startWithDevices(options: Parameters<typeof startAdmin>[0] = {}) {
  harness = await startAdmin(options)
  headers = await harness.createSession()
  const now = harness.clock.now()
  const at = (ms: number) => ({ timestamp: now - ms, receivedAt: now - ms })
  await harness.project(
    {
      deviceId: 'tug',
      ...at(MINUTE),
      latitude: 1,
      longitude: 2,
      speed: 3,
      heading: 0,
      attributes: { alarm: 'sos' },
    },
    { deviceId: 'ferry', ...at(2 * MINUTE), latitude: 5, longitude: 6, accuracy: 7, battery: 1 },
    { deviceId: 'other', ...at(0) },
  )
}

/** The time `afterMs` from now. */
export const iso = (afterMs: number) => new Date(harness.clock.now() + afterMs).toISOString()
export const create = (body: object) => harness.api('POST', '/shares', { headers, body })
export const usual = () => ({ name: 'Ferries', deviceIds: ['tug', 'ferry'], expiresAt: iso(DAY) })

/** The response for viewers of a share. */
export const shared = (token: string, from = '192.0.2.1') => {
  const place = { 'X-Forwarded-For': from }
  return harness.api('GET', '/shared', { headers: { ...bearer(token), ...place } })
}

/** Viewers of a share get the same response for a moment: a test that reads twice makes two. */
export const itemsOf = async (token: string) => (await shared(token)).body.data?.items

/** The token of a share created before its devices reported, or `agoMs` ago. */
export async function newToken(body: object = {}, agoMs = 5 * MINUTE): Promise<string> {
  const wanted = { ...usual(), ...body }
  harness.clock.time -= agoMs
  const { data } = (await create(wanted)).body
  harness.clock.time += agoMs
  return data?.['token'] as string
}
