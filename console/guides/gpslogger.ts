import { sampleTime, SUBMIT, type Guide, type Setup } from './guide.ts'

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
    'It tries three times and then drops the point. Where there is often no connection take its Dawarich mode (version 136 and later).',
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
    // GPSLogger must not expand a % in the id itself.
    `"deviceId":${JSON.stringify(deviceId).replaceAll('%', '\\u0025')}`,
    '"latitude":%LAT',
    '"longitude":%LON',
    '"timestamp":"%TIME"',
    '"accuracy":%ACC',
    '"altitude":%ALT',
  ]
  return `{${fields.join(',')}}`
}
