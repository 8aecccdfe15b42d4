import { base64, json, type Guide, type Setup, type GuideStep } from './guide.ts'

const PATH = '/api/v1/senders/owntracks'
const HTTP_MODE = 3
const ENCRYPTION =
  'A rejection says that the payload is encrypted: clear the encryption key in the app.'
const QUEUE = 'Points recorded offline wait in the app and arrive in order, oldest first.'

export const OWNTRACKS_ANDROID: Guide = {
  id: 'owntracks-android',
  name: 'OwnTracks (Android)',
  about:
    'A free app that reports where the phone is and saves battery. It stores what it cannot send.',
  link: (setup) => ({
    text: 'Version 2.6 and later: first switch on Preferences → Advanced → Remote configuration. Then scan this with the phone’s camera, open it with OwnTracks and accept the import. Switch the setting off again afterwards.',
    url: configurationLink(setup),
  }),
  steps: (setup) => [
    { text: 'In OwnTracks open Preferences → Connection and set Mode to `HTTP`.' },
    ...identification(setup, { deviceId: 'Device ID', user: 'Username' }),
    { text: 'Leave the encryption key under Advanced empty, and go back to the map.' },
    { text: 'Press the arrow on the map to send a position now.' },
  ],
  arrivesAs: topicOf,
  troubles: [
    'Status in the app’s menu shows the last response. `503` means that the key is not accepted or a limit is reached; the point stays in the queue.',
    ENCRYPTION,
    'Monitoring mode Quiet or Manual sends nothing by itself: choose Significant or Move.',
    'Allow location “all the time”, and exempt OwnTracks from battery optimisation.',
    QUEUE,
  ],
  example,
}

export const OWNTRACKS_IOS: Guide = {
  id: 'owntracks-ios',
  name: 'OwnTracks (iOS)',
  about:
    'A free app for iPhones and iPads that stores what it cannot send. iOS sends to `https://` addresses only.',
  link: (setup) => ({
    text: 'Version 26.2 and later: first allow external configuration in the app’s Settings. Then scan this with the camera, open it with OwnTracks and accept the changes. Switch the setting off again afterwards.',
    url: configurationLink(setup),
  }),
  steps: (setup) => [
    { text: 'In OwnTracks tap the ⓘ, open Settings and set Mode to `HTTP`.' },
    ...identification(setup, { deviceId: 'DeviceID', user: 'UserID' }),
    { text: 'Leave the secret encryption key empty.' },
    { text: 'Back on the map, tap the arrow at the top to publish a position now.' },
  ],
  arrivesAs: topicOf,
  troubles: [
    'iOS itself rejects addresses that start with `http://`: use HTTPS.',
    ENCRYPTION,
    'The mode at the top of the map must be Significant or Move; Quiet and Manual send nothing by themselves.',
    'In iOS’s Settings allow OwnTracks location “Always”, precise location and background refresh.',
    QUEUE,
  ],
  example,
}

/** OwnTracks ids have two parts; an id with only one gets `owntracks` as the first. */
function identity(deviceId: string): { user: string; device: string } {
  const slash = deviceId.indexOf('/')
  return slash > 0
    ? { user: deviceId.slice(0, slash), device: deviceId.slice(slash + 1) }
    : { user: 'owntracks', device: deviceId }
}

function topicOf(deviceId: string): string {
  const { user, device } = identity(deviceId)
  return `owntracks/${user}/${device}`.split('/').filter(Boolean).slice(-2).join('/')
}

function identification(
  { address, key, deviceId }: Setup,
  titles: { deviceId: string; user: string },
): GuideStep[] {
  const { user, device } = identity(deviceId)
  return [
    { text: 'Enter the address.', entries: [{ title: 'URL', text: address + PATH }] },
    {
      text: `Enter the identity. The key is the password, and the device arrives as \`${topicOf(deviceId)}\`.`,
      entries: [
        { title: titles.user, text: user },
        { title: 'Password', text: key },
        { title: titles.deviceId, text: device },
      ],
    },
  ]
}

function configurationLink({ address, key, deviceId }: Setup): string {
  const { user, device } = identity(deviceId)
  const configuration = {
    _type: 'configuration',
    mode: HTTP_MODE,
    url: address + PATH,
    auth: true,
    usePassword: true,
    username: user,
    password: key,
    deviceId: device,
    tid: device.replaceAll(/[^A-Za-z0-9]/g, '').slice(-2) || 'me',
  }
  return `owntracks:///config?inline=${encodeURIComponent(base64(JSON.stringify(configuration)))}`
}

function example(
  { address, key, deviceId }: Setup,
  { latitude, longitude, time }: { latitude: number; longitude: number; time: number },
) {
  const { user, device } = identity(deviceId)
  const message = {
    _type: 'location',
    lat: latitude,
    lon: longitude,
    tst: time / 1000,
    acc: 12,
    alt: 180,
    vel: 36,
    cog: 90,
    batt: 80,
    bs: 1,
    tid: 'me',
    topic: `owntracks/${user}/${device}`,
  }
  return {
    url: address + PATH,
    ...json(message, { Authorization: `Basic ${base64(`${user}:${key}`)}` }),
  }
}
