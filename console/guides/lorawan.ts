import { sampleTime, json, type Guide } from './guide.ts'
import { TRACKERS } from './trackers.ts'

const TTS_PATH = '/api/v1/senders/the-things-stack'
const CHIRPSTACK_PATH = '/api/v1/senders/chirpstack'
const FIELDS =
  'The decoder must name the position, for example `latitude` and `longitude` or `lat` and `lng`, on its top level or one below, as numbers.'
const KNOWN = {
  text: 'These trackers are known to work with the decoders of The Things Stack’s device repository. Any other works as well if its decoded payload has a position under one of these names.',
  entries: TRACKERS.map(({ name, payload }) => ({ title: name, text: JSON.stringify(payload) })),
} as const
const NO_FIX =
  'A tracker indoors often sends no fix: it says so, or sends an old place. Such an uplink only shows that it is alive, with its battery.'
const NO_POSITION =
  'Rejections lists uplinks without a position while their device is unknown, with the names in the decoded payload.'
const ID = 'Each device arrives under its DevEUI: enter that as device id above.'

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
    'Live data must show a `decoded_payload`: without a payload formatter there is no position.',
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
    'The device’s Events page shows an integration’s failures.',
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
