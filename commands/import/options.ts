import { accessSync, readFileSync } from 'node:fs'
import { objectIn, textIn } from '../../schemas/formats/values.ts'
import type { SenderKeys } from '../../runtime/config/config.ts'
import { deviceIdFault } from '../../schemas/device-id.ts'
import { parseIso8601 } from '../../schemas/iso-8601.ts'
import { parseArguments, UsageError } from '../command.ts'
import { keyOption, urlOption } from '../target-options.ts'
import type { Format } from '../../schemas/formats/histories/format.ts'
import { FORMATS } from '../../schemas/formats/histories/read-points.ts'
import type { Import } from './import-files.ts'
import { decodeText } from '../../schemas/formats/histories/text-encoding.ts'

export type Options = Import & {
  /** Absent in a dry run. */
  readonly target?: { readonly url: URL; readonly key: string }
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  key: { type: 'string' },
  url: { type: 'string' },
  device: { type: 'string' },
  devices: { type: 'string' },
  format: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const

/** Parses the command line. @throws {UsageError} for the first invalid argument. */
export function parseOptions(args: readonly string[], keys: SenderKeys): Options | 'help' {
  const { values, positionals } = parseArguments(args, { options: OPTIONS, allowPositionals: true })
  if (values.help === true) return 'help'
  if (positionals.length === 0)
    throw new UsageError('name the files to import; - is standard input')
  return {
    files: positionals.map(readable),
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

/** Checked before anything is sent. */
function readable(file: string): string {
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

/** The ids of Traccar's devices by their numbers. */
function traccarDevices(file: string): ReadonlyMap<string, string> {
  const list = jsonFile(file)
  const ids = (Array.isArray(list) ? (list as unknown[]) : []).flatMap((device) => {
    const { id, uniqueId } = objectIn(device) ?? {}
    const [number, text] = [textIn(id), textIn(uniqueId)]
    return number === undefined || text === undefined ? [] : [[number, text] as const]
  })
  if (ids.length > 0) return new Map(ids)
  throw new UsageError(
    `--devices must be the answer of Traccar's /api/devices, a JSON list of objects with id and uniqueId`,
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
