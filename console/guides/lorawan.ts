import { sampleTime, json, type Guide } from './guide.ts'

const TTS_PATH = '/api/v1/senders/the-things-stack'
const CHIRPSTACK_PATH = '/api/v1/senders/chirpstack'
const FIELDS =
  'The decoder must name the position, for example `latitude` and `longitude` or `lat` and `lng`, on its top level or one below, as numbers. A pressed panic button, such as `ALARM_status` or `sos`, is the alarm `sos`; a list of stored positions with times, such as `history`, is read too.'

/**
 * A tracker, and the output of the decoder, from The Things Stack's device repository or its maker,
 * for a report.
 */
type Tracker = {
  readonly name: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Trackers known to work: the tests send each payload through both network servers. */
export const TRACKERS: readonly Tracker[] = [
  {
    name: 'Dragino LGT-92',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      altitude: 180,
      hdop: 0.9,
      BatV: 3.36,
      LON: 'ON',
      MD: 'Move',
      ALARM_status: 'FALSE',
    },
  },
  {
    name: 'Dragino TrackerD',
    payload: {
      Latitude: 48.2082,
      Longitud: 16.3738,
      Location: '48.2082,16.3738',
      LON: 'ON',
      ALARM_status: 'FALSE',
      Transport: 'MOVE',
      Hum: 43,
      Tem: 21.8,
    },
  },
  {
    name: 'Digital Matter Oyster',
    payload: {
      type: 'position',
      latitudeDeg: 48.2082,
      longitudeDeg: 16.3738,
      headingDeg: 90,
      speedKmph: 36,
      fixFailed: false,
      inTrip: true,
      batV: 4.85,
    },
  },
  {
    name: 'Seeed SenseCAP T1000',
    payload: {
      valid: true,
      messages: [
        [
          { measurementId: '4197', type: 'Longitude', measurementValue: 16.3738 },
          { measurementId: '4198', type: 'Latitude', measurementValue: 48.2082 },
          { measurementId: '4097', type: 'Air Temperature', measurementValue: 21.8 },
          { measurementId: '3000', type: 'Battery', measurementValue: 80 },
        ],
      ],
    },
  },
  {
    name: 'Seeed Wio LoRaWAN Field Tester',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      altitude: 180,
      accuracy: 2.5,
      hdop: 0.5,
      sats: 9,
    },
  },
  {
    name: 'Milesight AT101',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      battery: 80,
      temperature: 21.8,
      motion_status: 'moving',
      position: 'normal',
    },
  },
  {
    name: 'Abeeway Asset Tracker 3',
    payload: {
      header: { type: 'POSITION', batteryLevel: 80, sos: false },
      position: {
        positionType: 'GNSS',
        status: 'SUCCESS',
        gnssFix: { latitude: 48.2082, longitude: 16.3738, altitude: 180 },
      },
    },
  },
  {
    name: 'Cayenne LPP',
    payload: {
      gps_1: { latitude: 48.2082, longitude: 16.3738, altitude: 180 },
      temperature_2: 21.8,
    },
  },
]

const KNOWN = {
  text: 'These trackers are known to work with the decoders of The Things Stack’s device repository. Any other works as well if its decoded payload has a position under one of these names.',
  entries: TRACKERS.map(({ name, payload }) => ({ title: name, text: JSON.stringify(payload) })),
} as const
const NO_FIX =
  'A tracker indoors often sends no fix: it says so, or sends zeros or an old position. Such an uplink only shows that it is alive, with its battery.'
const NO_POSITION =
  'Rejections lists uplinks without a position while their device is unknown, with the names in the decoded payload.'
const ID = 'Each device appears under its DevEUI: enter that as device id above.'

export const THE_THINGS_STACK: Guide = {
  id: 'the-things-stack',
  name: 'The Things Stack',
  about: 'LoRaWAN trackers in The Things Network or The Things Stack, through a webhook.',
  steps: ({ address, key }) => [
    {
      text: 'In the application’s console open Integrations → Webhooks → Add webhook → Custom webhook and choose the format `JSON`.',
      entries: [{ title: 'Base URL', text: address + TTS_PATH }],
    },
    {
      text: 'Add a header entry.',
      entries: [
        { title: 'Header', text: 'Authorization' },
        { title: 'Value', text: `Bearer ${key}` },
      ],
    },
    {
      text: 'Enable the event types Uplink message and Location solved, with empty paths, and save.',
    },
    { text: FIELDS },
    { text: ID },
  ],
  known: KNOWN,
  troubles: [
    'The webhook’s page shows its last failure. The Things Stack pauses a webhook that fails often: save it again.',
    'Live data must show a `decoded_payload`; without a payload formatter there is no position.',
    NO_FIX,
    NO_POSITION,
  ],
  example: ({ address, key, deviceId }, { latitude, longitude, time }) => ({
    url: address + TTS_PATH,
    ...json(
      {
        end_device_ids: { device_id: 'tracker', dev_eui: deviceId },
        received_at: sampleTime(time),
        uplink_message: {
          f_port: 2,
          decoded_payload: { latitude, longitude, altitude: 180, batteryLevel: 80 },
          received_at: sampleTime(time),
        },
      },
      { Authorization: `Bearer ${key}` },
    ),
  }),
}

export const CHIRPSTACK: Guide = {
  id: 'chirpstack',
  name: 'ChirpStack',
  about: 'LoRaWAN trackers in your own ChirpStack, version 4, through its HTTP integration.',
  steps: ({ address, key }) => [
    {
      text: 'In the application open Integrations → HTTP and choose the payload encoding `JSON`.',
      entries: [{ title: 'Event endpoint URL', text: address + CHIRPSTACK_PATH }],
    },
    {
      text: 'Add a header.',
      entries: [
        { title: 'Header', text: 'Authorization' },
        { title: 'Value', text: `Bearer ${key}` },
      ],
    },
    { text: FIELDS },
    { text: ID },
  ],
  known: KNOWN,
  troubles: [
    'The device’s Events page shows failed integrations.',
    'An uplink’s `object` must hold the position: set a codec in the device profile.',
    NO_FIX,
    NO_POSITION,
  ],
  example: ({ address, key, deviceId }, { latitude, longitude, time }) => ({
    url: `${address}${CHIRPSTACK_PATH}?event=up`,
    ...json(
      {
        time: sampleTime(time),
        deviceInfo: { deviceName: 'Tracker', devEui: deviceId },
        fPort: 2,
        object: { latitude, longitude, altitude: 180, batteryLevel: 80 },
      },
      { Authorization: `Bearer ${key}` },
    ),
  }),
}
