import { open, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Joi from 'joi'
import { syncDirectory, type NewFolder } from './new-folder.ts'

/** The file that completes a backup: a folder without it is not a backup. */
const MANIFEST_FILE = 'backup.json'
const FORMAT = 1

/** The content of a backup. Times are milliseconds since epoch. */
export type Manifest = {
  readonly format: number
  readonly version: string
  /** Everything acknowledged before this is in the backup. */
  readonly begunAt: number
  readonly files: readonly BackupFile[]
  /** The number of events in the log, and in its read models. */
  readonly events: number
  readonly projected: number
}

export type BackupFile = { readonly name: string; readonly bytes: number; readonly sha256: string }

/**
 * Claims a new folder for a backup, or undoes the claim.
 * @throws {Error} when another backup has claimed it.
 */
export async function claimFolder(directory: string, folder: NewFolder): Promise<void> {
  try {
    await writeFile(unfinishedIn(directory), '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      await folder.undo()
      throw error
    }
    throw new Error(`another backup goes to ${directory}: choose a new folder`, { cause: error })
  }
}

/** Completes a backup, once everything else is on disk. */
export async function writeManifest(
  directory: string,
  contents: Omit<Manifest, 'format'>,
): Promise<Manifest> {
  const manifest = { format: FORMAT, ...contents }
  const unfinished = unfinishedIn(directory)
  const written = await open(unfinished, 'w')
  try {
    await written.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await written.sync()
  } finally {
    await written.close()
  }
  await rename(unfinished, join(directory, MANIFEST_FILE))
  await syncDirectory(directory)
  return manifest
}

/**
 * @throws {Error} when the folder has no complete backup, or a backup in a format unknown to this
 * program.
 */
export async function readManifest(directory: string): Promise<Manifest> {
  const file = join(directory, MANIFEST_FILE)
  // Reading anything else, such as a named pipe, may never end.
  if (!(await isFile(file))) {
    throw new Error(
      `${directory} has no ${MANIFEST_FILE}: it is not a backup, or one that did not finish; choose another one`,
    )
  }
  return parseManifest(await readFile(file, 'utf8'), { directory, file })
}

/** Whether a path leads to a file with content, not a directory, pipe or device. */
export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true
}

function unfinishedIn(directory: string): string {
  return join(directory, `${MANIFEST_FILE}.new`)
}

function wholeNumber(max: number, expected: string): Joi.NumberSchema {
  const number = Joi.number().integer().min(0).max(max).required()
  return number.messages({ '*': `{{#label}} must be ${expected}` })
}

function text(pattern: RegExp, expected: string): Joi.StringSchema {
  const string = Joi.string().pattern(pattern).required()
  return string.messages({ '*': `{{#label}} must be ${expected}` })
}

function named(name: string | RegExp): Joi.ObjectSchema {
  const schema = typeof name === 'string' ? Joi.valid(name) : Joi.string().pattern(name)
  return Joi.object({ name: schema.required() }).unknown()
}

const NUMBER = 'a whole number that is not negative'
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const FILE = Joi.object({
  // A name must not lead out of the folder.
  name: text(/^[a-z0-9-]+\.(sqlite|key)$/, 'the name of a file that ends with .sqlite or .key'),
  bytes: wholeNumber(Number.MAX_SAFE_INTEGER, NUMBER),
  sha256: text(/^[\da-f]{64}$/, '64 hexadecimal digits'),
})

/** Fields added by other versions are ignored. */
const MANIFEST = Joi.object<Manifest>({
  format: Joi.number()
    .valid(FORMAT)
    .required()
    .messages({ '*': `{{#label}} must be ${FORMAT}` }),
  version: text(/./, 'the version that made the backup'),
  begunAt: wholeNumber(LAST_TIME, 'a time before the year 10000, in milliseconds since 1970'),
  files: Joi.array()
    .items(FILE.unknown().messages({ '*': '{{#label}} must be an object' }))
    .unique('name')
    .has(named('log.sqlite'))
    .has(named('accounts.sqlite'))
    .has(named(/^read-models-\d+\.sqlite$/))
    .required()
    .messages({
      '*': 'files must be a list of files, each once, with log.sqlite, accounts.sqlite and read-models-1.sqlite or another number',
    }),
  events: wholeNumber(Number.MAX_SAFE_INTEGER, NUMBER),
  projected: wholeNumber(Number.MAX_SAFE_INTEGER, NUMBER),
})
  .unknown()
  .messages({ '*': 'it must be a JSON object' })

function parseManifest(
  json: string,
  { directory, file }: { directory: string; file: string },
): Manifest {
  const given = parseJson(json)
  const { format, version } = (given ?? {}) as { format?: unknown; version?: unknown }
  if (Number.isInteger(format) && Number(format) > FORMAT) {
    throw new Error(
      `${directory} was made by a newer version (${String(version)}): restore it with that version`,
    )
  }
  const result = MANIFEST.validate(given, {
    convert: false,
    errors: { wrap: { label: false } },
    presence: 'required',
  })
  if (result.error === undefined) return result.value
  throw new Error(`${file} is damaged: ${result.error.message}; choose another backup`)
}

/** Undefined if it is not JSON. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
