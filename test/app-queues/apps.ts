/** An item that waits in an app's queue. */
export type Item =
  | {
      readonly kind: 'point'
      readonly latitude: number
      readonly longitude: number
      readonly at: number
    }
  /** Without a position. */
  | { readonly kind: 'heartbeat' }
  /** An item that the service always rejects. */
  | { readonly kind: 'encrypted'; readonly mark: string }

export type Request = {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Undefined if the connection broke or timed out. */
export type Answer = { readonly status: number; readonly body: string } | undefined

/** An app: how it sends, and what it does with its queue after a response or a failure. */
export type App = {
  /** The device as the service should store it. */
  readonly deviceId: string
  readonly request: (items: readonly Item[], key: string) => Request
  /** The app's queue; `sent` is at its head. */
  readonly queue: () => Queue
  readonly has: readonly Item['kind'][]
  /** Pause between a failure and the retry. */
  readonly triesAgainAfterMs: number
}

export type Queue = {
  /** Number of items in the next request. */
  readonly size: () => number
  /** Number of sent items to remove; the rest stay in the queue. */
  readonly after: (answer: Answer) => number
}

const ONE = () => 1
const isTaken = (answer: Answer) => answer !== undefined && Math.floor(answer.status / 100) === 2
const isRefused = (answer: Answer) => answer !== undefined && Math.floor(answer.status / 100) === 4

/** Retries the same point forever; later points wait. */
const forEver = (): Queue => ({ size: ONE, after: (answer) => (isTaken(answer) ? 1 : 0) })

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

function basic(key: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`queues:${key}`).toString('base64')}` }
}

const seconds = (milliseconds: number) => milliseconds / 1000

/** OsmAnd's fields, as Traccar Client posts them since version 10. */
function fields(id: string, item: Item | undefined): string {
  if (item?.kind !== 'point') return String(new URLSearchParams({ id, batt: '71' }))
  const { latitude, longitude, at } = item
  return String(
    new URLSearchParams({
      id,
      lat: String(latitude),
      lon: String(longitude),
      timestamp: String(seconds(at)),
      speed: '9.7',
      bearing: '271',
      altitude: '12.5',
      accuracy: '4',
      batt: '71',
    }),
  )
}

function owntracks(name: string): Pick<App, 'deviceId' | 'request' | 'has'> {
  const message = (item: Item | undefined): object => {
    const topic = `owntracks/queues/${name}`
    switch (item?.kind) {
      case 'point': {
        const { latitude: lat, longitude: lon, at } = item
        return { _type: 'location', topic, lat, lon, tst: seconds(at), acc: 7, batt: 71, vel: 3 }
      }
      case 'encrypted':
        return { _type: 'encrypted', topic, data: item.mark }
      case 'heartbeat':
      case undefined:
        return { _type: 'lwt', topic, tst: 1_767_225_600 }
    }
  }
  return {
    deviceId: `queues/${name}`,
    has: ['point', 'heartbeat', 'encrypted'],
    request: ([item], key) => ({
      path: '/pub',
      headers: { ...JSON_TYPE, ...basic(key), 'X-Limit-U': 'queues', 'X-Limit-D': name },
      body: JSON.stringify(message(item)),
    }),
  }
}

function feature(item: Item, properties: object): object {
  if (item.kind !== 'point') return { type: 'Feature', properties: { ...properties, action: 'x' } }
  const { latitude, longitude, at } = item
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: {
      timestamp: new Date(at).toISOString().replace('.000', ''),
      horizontal_accuracy: 5,
      speed: -1,
      altitude: 12,
      battery_level: 0.71,
      ...properties,
    },
  }
}

/** Widely used apps, modelled on their source code (2026). */
export const APPS = {
  'Traccar Client 10': {
    deviceId: 'traccar-10',
    has: ['point', 'heartbeat'],
    triesAgainAfterMs: 300,
    queue: forEver,
    request: ([item], key) => ({
      path: `/api/v1/senders/traccar/${key}`,
      headers: FORM_TYPE,
      body: fields('traccar-10', item),
    }),
  },

  'Traccar Client 9': {
    deviceId: 'traccar-9',
    has: ['point'],
    triesAgainAfterMs: 300,
    queue: forEver,
    request([item], key) {
      if (item?.kind !== 'point') throw new Error('it sends positions only')
      const { latitude, longitude, at } = item
      const coords = { latitude, longitude, accuracy: 4, speed: -1, heading: -1, altitude: 12 }
      const location = {
        timestamp: new Date(at).toISOString(),
        coords,
        event: 'motionchange',
        battery: { level: 0.71, is_charging: false },
        odometer: 12.5,
      }
      return {
        path: `/api/v1/senders/traccar/${key}`,
        headers: JSON_TYPE,
        body: JSON.stringify({ device_id: 'traccar-9', location }),
      }
    },
  },

  OsmAnd: {
    deviceId: 'osmand',
    has: ['point'],
    // Retries immediately.
    triesAgainAfterMs: 0,
    queue: forEver,
    request: ([item], key) => ({
      method: 'GET',
      path: `/api/v1/senders/osmand?key=${key}&${fields('osmand', item)}`,
    }),
  },

  'OwnTracks for Android': {
    ...owntracks('android'),
    triesAgainAfterMs: 300,
    // Requeues at the head; treats a 2xx without a JSON array as a failure.
    queue: () => ({
      size: ONE,
      after: (answer) => (isTaken(answer) && answer?.body.startsWith('[') === true ? 1 : 0),
    }),
  },

  'OwnTracks for iOS': {
    ...owntracks('ios'),
    triesAgainAfterMs: 300,
    // Drops the point on any 4xx.
    queue: () => ({
      size: ONE,
      after: (answer) => (isTaken(answer) || isRefused(answer) ? 1 : 0),
    }),
  },

  Overland: {
    deviceId: 'overland',
    has: ['point', 'heartbeat'],
    triesAgainAfterMs: 500,
    // Keeps the whole batch until it gets an ok.
    queue: () => ({
      size: () => 8,
      after: (answer) => (isTaken(answer) && answer?.body === '{"result":"ok"}' ? 8 : 0),
    }),
    request: (items, key) => ({
      path: '/api/v1/senders/overland',
      headers: { ...JSON_TYPE, Authorization: `Bearer ${key}` },
      body: JSON.stringify({
        locations: items.map((item) => feature(item, { device_id: 'overland', wifi: '' })),
      }),
    }),
  },

  GPSLogger: {
    deviceId: 'gpslogger',
    has: ['point'],
    triesAgainAfterMs: 5_000,
    // Drops a point after three attempts.
    queue() {
      let tries = 0
      return {
        size: ONE,
        after(answer) {
          tries = isTaken(answer) || tries === 2 ? 0 : tries + 1
          return tries === 0 ? 1 : 0
        },
      }
    },
    request([item], key) {
      if (item?.kind !== 'point') throw new Error('it sends positions only')
      const { latitude, longitude, at } = item
      const timestamp = new Date(at).toISOString()
      return {
        path: '/api/v1/gps/submit',
        headers: { ...JSON_TYPE, Authorization: `Bearer ${key}` },
        body: JSON.stringify({
          deviceId: 'gpslogger',
          latitude,
          longitude,
          timestamp,
          accuracy: 4,
        }),
      }
    },
  },

  Colota: {
    deviceId: 'colota',
    has: ['point', 'heartbeat'],
    triesAgainAfterMs: 500,
    // Halves a rejected batch until the bad point is alone, then drops that point.
    queue() {
      let size = 16
      return {
        size: () => size,
        after(answer) {
          const sent = size
          if (isTaken(answer) || (isRefused(answer) && size === 1)) {
            size = 16
            return sent
          }
          if (isRefused(answer)) size = Math.ceil(size / 2)
          return 0
        },
      }
    },
    request: (items, key) => ({
      path: `/api/v1/overland/batches?api_key=${key}`,
      headers: JSON_TYPE,
      body: JSON.stringify({
        device_id: 'colota',
        locations: items.map((item) => feature(item, {})),
      }),
    }),
  },
} as const satisfies Record<string, App>
