import {
  base64,
  sampleTime,
  json,
  SUBMIT,
  type Guide,
  type SamplePlace,
  type Setup,
} from './guide.ts'

const PATH = '/api/v1/senders/overland'

export const OVERLAND: Guide = {
  id: 'overland',
  name: 'Overland (iOS)',
  about:
    'Records in detail where an iPhone goes and sends it in batches. It stores what it cannot send.',
  link: ({ address, key, deviceId }) => ({
    text: 'Scan this with the camera of the iPhone that has Overland, and open it there: address, token and device id are entered.',
    url: `overland://setup?${query({ url: address + PATH, token: key, device_id: deviceId })}`,
  }),
  steps: ({ address, key, deviceId }) => [
    {
      text: 'In Overland open Settings and tap Receiver Endpoint.',
      entries: [
        { title: 'Endpoint', text: address + PATH },
        { title: 'Device ID', text: deviceId },
        { title: 'Access Token', text: key },
      ],
    },
    { text: 'Leave the logging mode at all data.' },
    { text: 'On the Tracker page switch tracking on and press Send Now.' },
  ],
  troubles: [
    'Queued on the Tracker page shows how many points wait. If Send Now does not reduce them, the key or the address is wrong.',
    'In its OwnTracks logging mode it needs another endpoint: the address with `/api/v1/senders/owntracks`.',
    'The slider on the Tracker page must not be at Off: then nothing is sent.',
    'In iOS’s Settings allow Overland location “Always” and precise location.',
  ],
  example: (setup, place) => ({
    url: setup.address + PATH,
    ...json(
      { locations: [feature(place, { device_id: setup.deviceId, battery_level: 0.8 })] },
      { Authorization: `Bearer ${setup.key}` },
    ),
  }),
}

export const COLOTA: Guide = {
  id: 'colota',
  name: 'Colota (Android)',
  about: 'Records and sends where an Android phone goes. It stores what it cannot send.',
  link: (setup) => ({
    text: 'Scan this with the phone’s camera: Colota shows what it would set; tap Apply Configuration.',
    url: `colota://setup?config=${encodeURIComponent(base64(JSON.stringify(colota(setup))))}`,
  }),
  steps: ({ address, key, deviceId }) => [
    { text: 'In Colota open Settings → API Settings and choose the template `Overland`.' },
    {
      text: 'Enter the address, and the device’s id among the custom fields.',
      entries: [
        { title: 'Endpoint', text: address + PATH },
        { title: 'Custom field device_id', text: deviceId },
      ],
    },
    {
      text: 'Under authentication choose `Bearer`.',
      entries: [{ title: 'Bearer token', text: key }],
    },
    { text: 'Choose a sync preset that sends batches, such as Balanced, and start tracking.' },
  ],
  troubles: [
    'Instant sync does not work with the Overland template: choose a preset with an interval.',
    'With the template Traccar add `speedUnit=mps` to the address: Colota sends metres per second.',
    'Exempt Colota from battery optimisation, and allow location “all the time”.',
  ],
  example: (setup, place) => ({
    url: setup.address + PATH,
    ...json(
      { locations: [feature(place, { battery_level: 0.8 })], device_id: setup.deviceId },
      { Authorization: `Bearer ${setup.key}` },
    ),
  }),
}

export const GPSLOGGER_DAWARICH: Guide = {
  id: 'gpslogger-dawarich',
  name: 'GPSLogger (Dawarich)',
  about: 'From version 136, GPSLogger for Android sends batches, as it does to Dawarich.',
  steps: ({ address, key, deviceId }) => [
    {
      text: 'In GPSLogger, open Logging details → Dawarich and switch it on.',
      entries: [
        { title: 'Base URL', text: address },
        { title: 'API key', text: key },
        { title: 'Device id', text: deviceId },
      ],
    },
    { text: 'Start logging.' },
  ],
  troubles: [
    'The base URL has no path and no slash at its end.',
    'Before version 136, or to send each point at once: use GPSLogger with a custom URL.',
    'Exempt GPSLogger from battery optimisation, and allow location “all the time”.',
  ],
  example: ({ address, key, deviceId }, place) => ({
    url: `${address}/api/v1/overland/batches?${query({ api_key: key })}`,
    ...json({ locations: [feature(place, { device_id: deviceId, battery_level: 80 })] }),
  }),
}

function colota({ address, key, deviceId }: Setup) {
  return {
    endpoint: address + PATH,
    apiTemplate: 'overland',
    httpMethod: 'POST',
    syncInterval: 60,
    customFields: [{ key: 'device_id', value: deviceId }],
    auth: { type: 'bearer', bearerToken: key },
  }
}

function feature({ latitude, longitude, time }: SamplePlace, more: object) {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: {
      timestamp: sampleTime(time),
      altitude: 180,
      speed: 10,
      course: 90,
      horizontal_accuracy: 12,
      vertical_accuracy: 5,
      battery_state: 'unplugged',
      ...more,
    },
  }
}

/** Not URLSearchParams, which writes a space as `+`: some apps read it as a plus. */
function query(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

export const GPSLOGGER: Guide = {
  id: 'gpslogger',
  name: 'GPSLogger',
  about:
    'GPSLogger for Android sends each point to a URL of your choice, in this service’s format.',
  steps: (setup) => [
    {
      text: 'In GPSLogger open Logging details → Log to custom URL, switch it on and fill in these four. GPSLogger replaces each `%` name with its value.',
      entries: [
        { title: 'URL', text: setup.address + SUBMIT },
        { title: 'HTTP method', text: 'POST' },
        {
          title: 'HTTP headers',
          text: `Authorization: Bearer ${setup.key}\nContent-Type: application/json`,
        },
        { title: 'HTTP body', text: body(setup) },
      ],
    },
    { text: 'Start logging.' },
  ],
  troubles: [
    'Both headers are needed: GPSLogger itself sends neither its identity nor the type of the body.',
    'It tries three times and then drops the point. If connections are rare, use its Dawarich mode (version 136 and later).',
    'Exempt GPSLogger from battery optimisation, and allow location “all the time”.',
  ],
  example: (setup, { latitude, longitude, time }) => ({
    method: 'POST',
    url: setup.address + SUBMIT,
    headers: { Authorization: `Bearer ${setup.key}`, 'Content-Type': 'application/json' },
    body: body(setup)
      .replace('%LAT', String(latitude))
      .replace('%LON', String(longitude))
      .replace('%TIME', sampleTime(time))
      .replace('%ACC', '12.0')
      .replace('%ALT', '180.0'),
  }),
}

function body({ deviceId }: Setup): string {
  const fields = [
    // Prevents GPSLogger from expanding a % in the id.
    `"deviceId":${JSON.stringify(deviceId).replaceAll('%', '\\u0025')}`,
    '"latitude":%LAT',
    '"longitude":%LON',
    '"timestamp":"%TIME"',
    '"accuracy":%ACC',
    '"altitude":%ALT',
  ]
  return `{${fields.join(',')}}`
}
