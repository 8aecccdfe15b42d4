/** A record as the admin API shows it. */
export type PositionView = {
  readonly recordId: string
  readonly deviceId: string
  readonly latitude: number
  readonly longitude: number
  readonly timestamp: string
  readonly receivedAt: string
  readonly altitude?: number
}

export type DeviceView = {
  readonly deviceId: string
  readonly status: string
  readonly reportCount: number
  readonly lastSeenAt: string
  readonly lastPosition: PositionView
}

export type FactView = {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly deviceId: string
  readonly at: string
  readonly alarm?: string
}

/** Reads the admin API with a key: every page of a list. */
export function adminReader({ adminUrl, key }: { adminUrl: string; key: string }) {
  async function get<T>(path: string): Promise<T> {
    const answer = await fetch(`${adminUrl}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    if (answer.status !== 200) throw new AnswerError(path, answer.status, await answer.text())
    return ((await answer.json()) as { data: T }).data
  }

  async function all<T>(path: string): Promise<T[]> {
    const items: T[] = []
    let cursor: string | null = null
    do {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page: { items: T[]; nextCursor: string | null } = await get(
        `${path}${path.includes('?') ? '&' : '?'}limit=1000${more}`,
      )
      items.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== null)
    return items
  }

  /** Undefined if there is none. */
  async function ifAny<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked
    } catch (error) {
      if (error instanceof AnswerError && error.status === 404) return undefined
      throw error
    }
  }

  return {
    devices: () => all<DeviceView>('/devices'),
    device: (deviceId: string) => get<DeviceView>(`/devices/${encodeURIComponent(deviceId)}`),
    /** A device's whole history, oldest first. */
    positions: (deviceId: string) =>
      all<PositionView>(`/devices/${encodeURIComponent(deviceId)}/positions?order=asc`),
    /** A device's whole history, oldest first; empty for an unknown device. */
    positionsIfAny: async (deviceId: string) =>
      (await ifAny(
        all<PositionView>(`/devices/${encodeURIComponent(deviceId)}/positions?order=asc`),
      )) ?? [],
    /** A device's facts, in the order in which they were decided. */
    facts: async (deviceId: string) =>
      (await all<FactView>(`/facts?deviceId=${encodeURIComponent(deviceId)}`)).sort(
        (one, other) => one.sequence - other.sequence,
      ),
    allFacts: () => all<FactView>('/facts'),
    positionIfAny: (recordId: string) => ifAny(get<PositionView>(`/positions/${recordId}`)),
    /** A metric of the admin API's process. */
    async metric(name: string): Promise<number | undefined> {
      const text = await (await fetch(`${adminUrl}/metrics`)).text()
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
      return value === undefined ? undefined : Number(value)
    },
  }
}

/** The record that is a device's last position. */
export function latestPosition(positions: readonly PositionView[]): PositionView | undefined {
  const rank = ({ timestamp, receivedAt, recordId }: PositionView) =>
    [timestamp < receivedAt ? timestamp : receivedAt, receivedAt, recordId].join(' ')
  return positions.reduce<PositionView | undefined>(
    (best, next) => (best === undefined || rank(next) > rank(best) ? next : best),
    undefined,
  )
}

class AnswerError extends Error {
  readonly status: number

  constructor(path: string, status: number, text: string) {
    super(`${path}: ${status} ${text}`)
    this.status = status
  }
}
