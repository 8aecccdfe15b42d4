import { open, stat } from 'node:fs/promises'
import type { MapConfig } from '../../runtime/config/console-variables.ts'

/** https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md */
const HEADER_BYTES = 127
const VERSION = 3
/**
 * Where the header has the offset and length of the root directory, metadata, leaf directories and
 * tiles.
 */
const SECTIONS = [8, 24, 40, 56]

/**
 * Warns of each configured PMTiles file that cannot be displayed: its map would just stay empty.
 */
export async function warnOfMaps(
  maps: readonly MapConfig[],
  logger: { warn(fields: object, message: string): void },
): Promise<void> {
  for (const map of maps) {
    if (map.kind !== 'pmtiles file') continue
    const { name, file } = map
    const reason = await faultOfFile(file).catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${error.code})`,
    )
    if (reason !== undefined) {
      logger.warn({ map: name, file, reason }, 'a map of MAP_PMTILES cannot be shown')
    }
  }
}

async function faultOfFile(file: string): Promise<string | undefined> {
  const stats = await stat(file)
  // Opening a pipe could occupy one of the few threads forever.
  if (!stats.isFile()) return 'it is not a file'
  if (stats.size === 0) return 'it is empty'
  const header = Buffer.alloc(HEADER_BYTES)
  const handle = await open(file)
  try {
    await handle.read(header, 0, HEADER_BYTES, 0)
  } finally {
    await handle.close()
  }
  return faultOfHeader(header, stats.size)
}

function faultOfHeader(header: Buffer, size: number): string | undefined {
  const begin = header.toString('latin1', 0, 15)
  if (begin === 'SQLite format 3') return 'it is an MBTiles file: convert it with pmtiles convert'
  if (!begin.startsWith('PM')) return 'it is not a PMTiles file'
  const version = begin.startsWith('PMTiles') ? header.readUInt8(7) : header.readUInt16LE(2)
  if (version !== VERSION)
    return `it has version ${version} of PMTiles: convert it to version 3 with pmtiles convert`
  const end = SECTIONS.map((at) => header.readBigUInt64LE(at) + header.readBigUInt64LE(at + 8))
  return end.some((bytes) => bytes > size) ? 'it is truncated: copy it again' : undefined
}
