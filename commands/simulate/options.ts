import { basename } from 'node:path'
import type { SenderKeys } from '../../runtime/config/config.ts'
import {
  commandLine,
  refuseOptions,
  UsageError,
  type OptionValues,
  keyOption,
  numberOption,
  urlOption,
} from '../../runtime/process/command-line.ts'

export type Options = {
  readonly url: URL
  readonly key: string
  readonly giveUpMs: number
  readonly verify?: { readonly adminUrl: URL; readonly readKey: string }
  readonly source: MovingSource | GpxSource
}

export type MovingSource = {
  readonly kind: 'moving'
  readonly devices: number
  /** Reports per second and device. */
  readonly rate: number
  /** Reports per device; Infinity: until the user stops the run. */
  readonly count: number
  readonly prefix: string
  readonly seed: number
  /** Whether the devices report attributes. */
  readonly attributes: boolean
}

export type GpxSource = {
  readonly kind: 'gpx'
  readonly tracks: readonly { readonly file: string; readonly deviceId: string }[]
  readonly times: 'original' | 'now'
  /** Without it, reports are sent as fast as the service accepts them. */
  readonly speedup?: number
}

const OPTIONS = {
  url: { type: 'string', value: 'URL', about: 'the ingest API (default http://localhost:8080)' },
  key: {
    type: 'string',
    value: 'KEY',
    about:
      'an API key with the scope positions:write. Better in the environment variable GPS_KEY, where no shell ' +
      'history keeps it',
  },
  'give-up': {
    type: 'string',
    value: 'SECONDS',
    about:
      'how long a device retries a report that gets a 5xx or no response (default 60). After a 429 it waits as ' +
      'long as the response says',
  },
  devices: {
    title: 'Devices that move (without --gpx)',
    type: 'string',
    value: 'N',
    about: 'how many (default 10)',
  },
  rate: { type: 'string', value: 'R', about: 'reports per second and device (default 1)' },
  duration: {
    type: 'string',
    value: 'SECONDS',
    about: 'stop after this time (default: on Ctrl-C)',
  },
  count: { type: 'string', value: 'N', about: 'stop after N reports per device' },
  prefix: {
    type: 'string',
    value: 'NAME',
    about: 'device ids are NAME and a number (default simulated-)',
  },
  seed: { type: 'string', value: 'N', about: 'the same number gives the same routes (default 1)' },
  attributes: {
    type: 'boolean',
    about: 'the devices report ignition, motion, odometer, satellites too, now and then an alarm',
  },
  gpx: {
    title: 'A recorded track',
    type: 'string',
    multiple: true,
    value: 'FILE',
    about:
      'replays its track points; repeated: several files at once, a device each. Points without a time are 1 s ' +
      'apart before the next one with a time',
  },
  device: {
    type: 'string',
    multiple: true,
    value: 'ID',
    about: 'the device id, once per file (default: the file’s name without .gpx)',
  },
  times: {
    type: 'string',
    value: 'WHEN',
    about:
      'now shifts the track so that its last point is now (default); original leaves the times as recorded',
  },
  speedup: {
    type: 'string',
    value: 'N',
    about:
      'the gaps between points divided by N (default: as fast as the service takes them, in order)',
  },
  verify: {
    title: 'Checking that acknowledged reports can be read',
    type: 'boolean',
    about:
      'asks the admin API for every acknowledged record; one that cannot be read 10 s after its 200 is missing',
  },
  'admin-url': { type: 'string', value: 'URL', about: '(default http://localhost:8081)' },
  'read-key': {
    type: 'string',
    value: 'KEY',
    about: 'a key with the scope positions:read (default: GPS_READ_KEY, then --key)',
  },
} as const

const line = commandLine({
  begin: `Sends position reports to the service as devices would, and counts the responses.

  npm run simulate -- --url http://localhost:8080 --key KEY --devices 50 --rate 1
  npm run simulate -- --key KEY --gpx track.gpx --speedup 60`,
  options: OPTIONS,
  end: `Ctrl-C ends the run early, with its summary. Exit code 0: every report was acknowledged and no
record is missing; 1: otherwise; 2: invalid arguments.`,
})
export const HELP = line.help

type Entered = OptionValues<typeof OPTIONS>

const ONLY_MOVING = [
  'devices',
  'rate',
  'duration',
  'count',
  'prefix',
  'seed',
  'attributes',
] as const
const ONLY_GPX = ['device', 'times', 'speedup'] as const
const ONLY_VERIFY = ['admin-url', 'read-key'] as const

/** Parses the command line. @throws {UsageError} for the first invalid argument. */
export function parseOptions(args: readonly string[], keys: SenderKeys): Options | 'help' {
  return line.parse(args, (values) => optionsOf(values, keys))
}

function optionsOf(values: Entered, keys: SenderKeys): Options {
  if (values.gpx === undefined) refuseOptions(values, ONLY_GPX, 'requires --gpx FILE')
  else refuseOptions(values, ONLY_MOVING, 'cannot be combined with --gpx')
  if (values.verify !== true) refuseOptions(values, ONLY_VERIFY, 'requires --verify')
  const key = keyOption('--key', values.key ?? keys.key, {
    expected: 'an API key, or set GPS_KEY',
  })
  const readKey = values['read-key'] ?? keys.readKey ?? key
  return {
    url: urlOption('--url', values.url, { fallback: 'http://localhost:8080' }),
    key,
    giveUpMs: numberOption(values, 'give-up', { fallback: 60, min: 0, max: 86_400 }) * 1000,
    ...(values.verify === true && {
      verify: {
        adminUrl: urlOption('--admin-url', values['admin-url'], {
          fallback: 'http://localhost:8081',
        }),
        readKey: keyOption('--read-key', readKey, {
          expected: 'an API key with the scope positions:read',
        }),
      },
    }),
    source: values.gpx === undefined ? movingSource(values) : gpxSource(values, values.gpx),
  }
}

function movingSource(values: Entered): MovingSource {
  const rate = numberOption(values, 'rate', { fallback: 1, min: 0.001, max: 1000 })
  const durationS = numberOption(values, 'duration', { fallback: Infinity, min: 0.001, max: 1e7 })
  const count = numberOption(values, 'count', { fallback: Infinity, min: 1, max: 1e9, whole: true })
  return {
    kind: 'moving',
    devices: numberOption(values, 'devices', { fallback: 10, min: 1, max: 100_000, whole: true }),
    rate,
    count: Math.min(count, Math.ceil(durationS * rate)),
    prefix: values.prefix ?? 'simulated-',
    seed: numberOption(values, 'seed', { fallback: 1, min: 0, max: 2 ** 32 - 1, whole: true }),
    attributes: values.attributes === true,
  }
}

function gpxSource(values: Entered, files: readonly string[]): GpxSource {
  const ids = values.device ?? files.map((file) => basename(file).replace(/\.gpx$/i, ''))
  if (ids.length !== files.length) {
    throw new UsageError(`--device may appear only once for each --gpx FILE, in the same order`)
  }
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) {
    throw new UsageError(`--device must differ from file to file: "${repeated}" comes twice`)
  }
  const times = values.times ?? 'now'
  if (times !== 'now' && times !== 'original') {
    throw new UsageError(`--times must be original or now, not "${times}"`)
  }
  return {
    kind: 'gpx',
    tracks: files.map((file, index) => ({ file, deviceId: ids[index] ?? file })),
    times,
    ...(values.speedup !== undefined && {
      speedup: numberOption(values, 'speedup', { fallback: 1, min: 0.001, max: 1e6 }),
    }),
  }
}
