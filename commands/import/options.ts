import { accessSync, readFileSync } from 'node:fs'
import { parseObject, parseText } from '../../schemas/formats/values.ts'
import type { SenderKeys } from '../../runtime/config/config.ts'
import { deviceIdFault } from '../../schemas/devices/device-id.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import {
  commandLine,
  UsageError,
  type OptionValues,
  keyOption,
  urlOption,
} from '../../runtime/process/command-line.ts'
import type { Format } from '../../schemas/formats/histories/format.ts'
import { FORMATS } from '../../schemas/formats/histories/read-points.ts'
import type { Import } from './import-files.ts'
import { decodeText } from '../../schemas/formats/histories/text-encoding.ts'

export type Options = Import & {
  /** The service to import into; absent in a dry run. */
  readonly target?: { readonly url: URL; readonly key: string }
}

const OPTIONS = {
  key: {
    type: 'string',
    value: 'KEY',
    about:
      'an API key with the scope positions:import. Better in the environment variable GPS_KEY, because arguments ' +
      'show in the list of processes',
  },
  url: { type: 'string', value: 'URL', about: 'the ingest API (default http://localhost:8080)' },
  device: {
    type: 'string',
    value: 'ID',
    about: 'the device of all points, whatever the files say. Files without device ids need it',
  },
  devices: {
    type: 'string',
    value: 'FILE',
    about:
      "the response of Traccar's /api/devices, which has the ids for the numbers that Traccar's positions have",
  },
  from: {
    type: 'string',
    value: 'T',
    about: 'only points of this time or later: 2024-01-31, or 2024-01-31T12:00:00Z',
  },
  to: { type: 'string', value: 'T', about: 'only points before this time' },
  'dry-run': {
    type: 'boolean',
    about:
      'reads and checks everything, sends nothing, and names up to 1000 skipped points per reason',
  },
  format: {
    type: 'string',
    value: 'F',
    about: [
      'for files that are not recognised by their content:',
      ...FORMATS.map(({ name, title }) => `  ${name.padEnd(16)}${title}`),
    ].join('\n'),
  },
} as const

const line = commandLine({
  begin: `Imports the history of devices from files of other programs.

  npm run import -- --key KEY --device my-phone walk.gpx Records.json.gz
  npm run import -- --key KEY --devices devices.json positions.json`,
  operands: { 'FILE…': 'any number; - is standard input. Files may be compressed with gzip' },
  options: OPTIONS,
  end: `Points are sent in the order of the files, as fast as the service takes them. After an interruption start it
again: no point is stored twice. To undo an import, erase the device.

"accepted" counts the points that the service has now, whether new or known before.

Exit code: 0 everything was imported, 1 points were skipped, a file has no recorded position, or the
service refused (it says why), 2 a file could not be read to its end, or the command line is wrong.`,
})
export const HELP = line.help

/** Parses the command line. @throws {UsageError} for the first invalid argument. */
export function parseOptions(args: readonly string[], keys: SenderKeys): Options | 'help' {
  return line.parse(args, (values, files) => optionsOf(values, files, keys))
}

function optionsOf(
  values: OptionValues<typeof OPTIONS>,
  files: readonly string[],
  keys: SenderKeys,
): Options {
  if (files.length === 0) throw new UsageError('name the files to import; - is standard input')
  return {
    files: files.map(requireReadable),
    format: values.format === undefined ? undefined : formatNamed(values.format),
    deviceId: values.device === undefined ? undefined : deviceOf(values.device),
    deviceIds: values.devices === undefined ? undefined : traccarDevices(values.devices),
    from: values.from === undefined ? undefined : time('--from', values.from),
    to: values.to === undefined ? undefined : time('--to', values.to),
    ...(values['dry-run'] !== true && {
      target: {
        url: urlOption('--url', values.url, { fallback: 'http://localhost:8080' }),
        key: keyOption('--key', values.key ?? keys.key, {
          expected: 'an API key, or set GPS_KEY',
        }),
      },
    }),
  }
}

/** Checks the file before anything is sent. */
function requireReadable(file: string): string {
  try {
    if (file !== '-') accessSync(file)
    return file
  } catch (error) {
    throw new UsageError(`FILE must be a file that can be read: ${reason(error)}`)
  }
}

function formatNamed(name: string): Format {
  const format = FORMATS.find((one) => one.name === name)
  if (format !== undefined) return format
  throw new UsageError(`--format must be one of ${FORMATS.map((one) => one.name).join(', ')}`)
}

function deviceOf(id: string): string {
  const fault = deviceIdFault(id)
  if (fault !== undefined) throw new UsageError(fault.replace(/^deviceId/, '--device'))
  return id
}

function time(name: string, text: string): number {
  const parsed = parseIso8601(text) ?? parseIso8601(`${text}T00:00Z`)
  if (parsed !== undefined) return parsed
  throw new UsageError(`${name} must be a time such as 2024-01-31 or 2024-01-31T12:00:00Z`)
}

/** Device ids by Traccar's device numbers. */
function traccarDevices(file: string): ReadonlyMap<string, string> {
  const list = jsonFile(file)
  const ids = (Array.isArray(list) ? (list as unknown[]) : []).flatMap((device) => {
    const { id, uniqueId } = parseObject(device) ?? {}
    const [number, text] = [parseText(id), parseText(uniqueId)]
    return number === undefined || text === undefined ? [] : [[number, text] as const]
  })
  if (ids.length > 0) return new Map(ids)
  throw new UsageError(
    `--devices must be the response of Traccar's /api/devices, a JSON list of objects with id and uniqueId`,
  )
}

function jsonFile(file: string): unknown {
  try {
    return JSON.parse(decodeText(readFileSync(file))) as unknown
  } catch (error) {
    throw new UsageError(`--devices must be a JSON file that can be read: ${reason(error)}`)
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
