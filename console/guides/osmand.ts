import { json, type Guide, type Setup } from './guide.ts'

const FORM = 'application/x-www-form-urlencoded; charset=UTF-8'

export const TRACCAR_CLIENT: Guide = {
  id: 'traccar-client',
  name: 'Traccar Client',
  about: 'For Android and iOS, versions 8 to 10. It stores what it cannot send.',
  link: (setup) => ({
    text: 'In the app open Settings and tap the QR symbol at the top, then scan this. Not with the phone’s camera: that would open a browser.',
    url: `${serverUrl(setup)}?id=${encodeURIComponent(setup.deviceId)}`,
    onlyScanned: true,
  }),
  steps: (setup) => [
    {
      text: 'In Traccar Client open Settings. The key is part of the address, because the app cannot send it elsewhere.',
      entries: [
        { title: 'Server URL', text: serverUrl(setup) },
        { title: 'Device identifier', text: setup.deviceId },
      ],
    },
    {
      text: 'Under Advanced settings, leave Offline buffering on, so that nothing is lost while offline.',
    },
    { text: 'Switch on Continuous tracking, or press Send location for one position.' },
  ],
  troubles: [
    'The app’s log (Show status) shows each response. The app sends a point until it is accepted, so everything arrives once a wrong key is corrected.',
    'An older configuration link may have kept only the server: check that the Server URL still ends with the key.',
    'While the phone does not move, the app rarely sends: set Distance to 0 and Accuracy to Highest for a test.',
  ],
  example: (setup, { latitude, longitude, time }) => ({
    method: 'POST',
    url: serverUrl(setup),
    headers: { 'Content-Type': FORM },
    body: new URLSearchParams({
      id: setup.deviceId,
      timestamp: String(time / 1000),
      lat: String(latitude),
      lon: String(longitude),
      speed: '19.438',
      bearing: '90',
      altitude: '180',
      accuracy: '12',
      batt: '80',
      charge: 'false',
    }).toString(),
  }),
}

export const OSMAND: Guide = {
  id: 'osmand',
  name: 'OsmAnd',
  about: 'The map app’s plugin Trip recording sends the position while it records.',
  steps: (setup) => [
    { text: 'In OsmAnd open Plugins, switch Trip recording on and open its settings.' },
    {
      text: 'Switch Online tracking on. OsmAnd replaces `{0}` to `{6}` with its values.',
      entries: [{ title: 'Web address', text: osmandUrl(setup) }],
    },
    { text: 'Choose the tracking interval and a time buffer, and start recording a trip.' },
  ],
  troubles: [
    'It sends only while a trip is being recorded.',
    'The app drops points older than the time buffer: choose a long one if connections are rare.',
    '`speedUnit=mps` must be in the address: without it, speeds are read as knots.',
  ],
  example: (setup, { latitude, longitude, time }) => ({
    method: 'GET',
    url: [latitude, longitude, time, 12, 180, 10, 90].reduce<string>(
      (url, value, index) => url.replace(`{${index}}`, String(value)),
      osmandUrl(setup),
    ),
    headers: {},
  }),
}

export const PHONETRACK: Guide = {
  id: 'phonetrack',
  name: 'PhoneTrack',
  about:
    'The Android app of Nextcloud’s PhoneTrack, and every logger that reports to an address of that kind.',
  steps: ({ address, key, deviceId }) => [
    {
      text: 'In the app add a PhoneTrack log job, as if this service were your Nextcloud. If the console is at the same address, add `/ingest` to it, here and below.',
      entries: [
        { title: 'Nextcloud address', text: address },
        { title: 'Session token', text: key },
        { title: 'Device name', text: deviceId },
      ],
    },
    { text: 'Save it and switch the log job on.' },
    {
      text: 'A logger that already has a PhoneTrack address (OsmAnd, GPSLogger, μlogger, OwnTracks, Traccar, Overland, OpenGTS, Locus Map, a GET or a POST) keeps it; only replace server, token and name.',
      entries: [
        {
          title: 'For example GPSLogger',
          text: `${address}/index.php/apps/phonetrack/log/gpslogger/${key}/${encodeURIComponent(deviceId)}?lat=%LAT&lon=%LON&sat=%SAT&alt=%ALT&acc=%ACC&speed=%SPD&bearing=%DIR&timestamp=%TIMESTAMP&bat=%BATT`,
        },
      ],
    },
  ],
  troubles: [
    '`yourname` in the address does not count as a name: put the device’s id there.',
    'Exempt the app from battery optimisation, and allow location “all the time”.',
  ],
  example: ({ address, key, deviceId }, { latitude, longitude, time }) => ({
    method: 'POST',
    url: `${address}/index.php/apps/phonetrack/logPost/${key}/${encodeURIComponent(deviceId)}?lat=${latitude}&lon=${longitude}&alt=180&acc=12&bat=80&sat=9&speed=10&bearing=90&timestamp=${time / 1000}`,
    headers: {},
  }),
}

export const TRACCAR_SERVER: Guide = {
  id: 'traccar-server',
  name: 'Traccar server',
  about: 'A Traccar server forwards what its devices report, so all of its 200+ protocols work.',
  steps: ({ address, key }) => [
    {
      text: 'Add these lines to Traccar’s configuration file (`conf/traccar.xml`) and restart it.',
      entries: [{ title: 'traccar.xml', text: forwardEntries(`${address}${FORWARD}`, key) }],
    },
    { text: 'Each device appears under its identifier in Traccar: enter that as device id above.' },
  ],
  troubles: [
    'Traccar’s log (`logs/tracker-server.log`) shows which positions it could not forward.',
    'Without `forward.retry.enable` Traccar drops what it cannot forward immediately; with it, Traccar keeps at most `forward.retry.limit` positions.',
  ],
  example: ({ address, key, deviceId }, { latitude, longitude, time }) => ({
    url: address + FORWARD,
    ...json(
      {
        position: {
          protocol: 'teltonika',
          fixTime: new Date(time).toISOString(),
          valid: true,
          latitude,
          longitude,
          altitude: 180,
          speed: 19.438,
          course: 90,
          accuracy: 12,
          attributes: { batteryLevel: 80 },
        },
        device: { id: 1, name: 'One', uniqueId: deviceId },
      },
      { Authorization: `Bearer ${key}` },
    ),
  }),
}

const FORWARD = '/api/v1/senders/traccar-forward'

function serverUrl({ address, key }: Setup): string {
  return `${address}/api/v1/senders/traccar/${key}`
}

function osmandUrl({ address, key, deviceId }: Setup): string {
  const id = encodeURIComponent(deviceId)
  return `${address}/api/v1/senders/osmand/${key}?id=${id}&lat={0}&lon={1}&timestamp={2}&accuracy={3}&altitude={4}&speed={5}&bearing={6}&speedUnit=mps`
}

function forwardEntries(url: string, key: string): string {
  const entries = {
    'forward.type': 'json',
    'forward.url': url,
    'forward.header': `Authorization: Bearer ${key}`,
    'forward.retry.enable': 'true',
    'forward.retry.limit': '100000',
  }
  return Object.entries(entries)
    .map(([name, value]) => `<entry key='${name}'>${value}</entry>`)
    .join('\n')
}
