import type { Guide, Setup } from './guide.ts'

/** The data of a guide that lists need; the rest is loaded when the guide is opened. */
type GuideEntry = {
  readonly id: string
  readonly name: string
  /** Whether the app reports for several devices, each under its own id. */
  readonly hasManyDevices?: true
  readonly load: () => Promise<Guide>
}

/** Every guide, in the order of the list. */
export const GUIDES: readonly { readonly title: string; readonly guides: readonly GuideEntry[] }[] =
  [
    {
      title: 'Phone apps',
      guides: [
        {
          id: 'owntracks-android',
          name: 'OwnTracks (Android)',
          load: () => import('./owntracks.ts').then(({ OWNTRACKS_ANDROID }) => OWNTRACKS_ANDROID),
        },
        {
          id: 'owntracks-ios',
          name: 'OwnTracks (iOS)',
          load: () => import('./owntracks.ts').then(({ OWNTRACKS_IOS }) => OWNTRACKS_IOS),
        },
        {
          id: 'overland',
          name: 'Overland (iOS)',
          load: () => import('./overland.ts').then(({ OVERLAND }) => OVERLAND),
        },
        {
          id: 'traccar-client',
          name: 'Traccar Client',
          load: () => import('./osmand.ts').then(({ TRACCAR_CLIENT }) => TRACCAR_CLIENT),
        },
        {
          id: 'gpslogger',
          name: 'GPSLogger',
          load: () => import('./overland.ts').then(({ GPSLOGGER }) => GPSLOGGER),
        },
        {
          id: 'gpslogger-dawarich',
          name: 'GPSLogger (Dawarich)',
          load: () => import('./overland.ts').then(({ GPSLOGGER_DAWARICH }) => GPSLOGGER_DAWARICH),
        },
        {
          id: 'colota',
          name: 'Colota (Android)',
          load: () => import('./overland.ts').then(({ COLOTA }) => COLOTA),
        },
        {
          id: 'osmand',
          name: 'OsmAnd',
          load: () => import('./osmand.ts').then(({ OSMAND }) => OSMAND),
        },
        {
          id: 'phonetrack',
          name: 'PhoneTrack',
          load: () => import('./osmand.ts').then(({ PHONETRACK }) => PHONETRACK),
        },
      ],
    },
    {
      title: 'Servers and networks',
      guides: [
        {
          id: 'traccar-server',
          hasManyDevices: true,
          name: 'Traccar server',
          load: () => import('./osmand.ts').then(({ TRACCAR_SERVER }) => TRACCAR_SERVER),
        },
        {
          id: 'the-things-stack',
          hasManyDevices: true,
          name: 'The Things Stack',
          load: () => import('./lorawan.ts').then(({ THE_THINGS_STACK }) => THE_THINGS_STACK),
        },
        {
          id: 'chirpstack',
          hasManyDevices: true,
          name: 'ChirpStack',
          load: () => import('./lorawan.ts').then(({ CHIRPSTACK }) => CHIRPSTACK),
        },
      ],
    },
    {
      title: 'Programs and boards',
      guides: [
        {
          id: 'home-assistant',
          name: 'Home Assistant',
          load: () => import('./home-made.ts').then(({ HOME_ASSISTANT }) => HOME_ASSISTANT),
        },
        { id: 'curl', name: 'curl', load: () => import('./home-made.ts').then(({ CURL }) => CURL) },
        {
          id: 'python',
          name: 'Python',
          load: () => import('./home-made.ts').then(({ PYTHON }) => PYTHON),
        },
        { id: 'node', name: 'Node', load: () => import('./home-made.ts').then(({ NODE }) => NODE) },
        {
          id: 'micropython',
          name: 'MicroPython',
          load: () => import('./boards.ts').then(({ MICROPYTHON }) => MICROPYTHON),
        },
        {
          id: 'arduino',
          name: 'Arduino / ESP32',
          load: () => import('./boards.ts').then(({ ARDUINO }) => ARDUINO),
        },
      ],
    },
  ]

const FIRST = GUIDES[0]!.guides[0]!

/** The guide with that id, or the first one. */
export function guideOf(id: string): GuideEntry {
  return GUIDES.flatMap(({ guides }) => guides).find((guide) => guide.id === id) ?? FIRST
}

/** Checks that apply to every sender. */
export function commonTroubles({ address }: Setup): readonly string[] {
  return [
    `Open \`${address}/healthz\` in the browser of the same phone or computer. If there is no response, the service cannot be reached from there.`,
    'Check Rejections in the console: it lists every report that arrived and was rejected, with the reason. The page of a device that has reported before says “Why is it silent?”.',
    'Reports with a revoked, expired or mistyped key are not listed: create another key, or use Keys → Which key is this?',
  ]
}
