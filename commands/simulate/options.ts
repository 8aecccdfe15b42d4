import { basename } from 'node:path'
import type { parseArgs, ParseArgsConfig } from 'node:util'
import type { SenderKeys } from '../../runtime/config/config.ts'
import { numberOption, parseArguments, UsageError } from '../command.ts'
import { keyOption, urlOption } from '../target-options.ts'

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
  /** Absent: as fast as the service accepts them. */
  readonly speedup?: number
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  url: { type: 'string' },
  key: { type: 'string' },
  'give-up': { type: 'string' },
  verify: { type: 'boolean' },
  'admin-url': { type: 'string' },
  'read-key': { type: 'string' },
  devices: { type: 'string' },
  rate: { type: 'string' },
  duration: { type: 'string' },
  count: { type: 'string' },
  prefix: { type: 'string' },
  seed: { type: 'string' },
  attributes: { type: 'boolean' },
  gpx: { type: 'string', multiple: true },
  device: { type: 'string', multiple: true },
  times: { type: 'string' },
  speedup: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']
type Name = keyof Values

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
  const values: Values = parseArguments(args, { options: OPTIONS }).values
  if (values.help === true) return 'help'
  refuse(values, values.gpx === undefined ? ONLY_GPX : ONLY_MOVING, {
    because: values.gpx === undefined ? 'goes with --gpx FILE only' : 'does not go with --gpx',
  })
  if (values.verify !== true) refuse(values, ONLY_VERIFY, { because: 'goes with --verify only' })
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

function refuse(values: Values, names: readonly Name[], { because }: { because: string }): void {
  const unfitting = names.find((name) => values[name] !== undefined)
  if (unfitting !== undefined) throw new UsageError(`--${unfitting} ${because}`)
}

function movingSource(values: Values): MovingSource {
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

function gpxSource(values: Values, files: readonly string[]): GpxSource {
  const ids = values.device ?? files.map((file) => basename(file).replace(/\.gpx$/i, ''))
  if (ids.length !== files.length) {
    throw new UsageError(`--device must be given once for each --gpx FILE, in the same order`)
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
