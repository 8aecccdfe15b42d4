import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'

export type Tile = {
  readonly z: number
  readonly x: number
  readonly y: number
  /** A Mapbox vector tile, not compressed. */
  readonly data: Uint8Array
}

export type TileSet = {
  readonly tiles: readonly Tile[]
  readonly minZoom: number
  readonly maxZoom: number
  /** West, south, east and north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  readonly metadata: Readonly<Record<string, unknown>>
}

type Entry = { readonly id: number; readonly offset: number; readonly length: number; run: number }

const HEADER_BYTES = 127
/** The root directory must fit into the first 16 KiB, so the entries are in leaf directories. */
const ENTRIES_PER_LEAF = 2048
const GZIP = 2
const VECTOR_TILES = 1

/** A file in the PMTiles format, version 3: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md */
export function pmtiles({ tiles, minZoom, maxZoom, bounds, metadata }: TileSet): Buffer {
  const { entries, contents } = storeTiles(tiles)
  const leaves: Buffer[] = []
  const root: Entry[] = []
  let leafOffset = 0
  for (let first = 0; first < entries.length; first += ENTRIES_PER_LEAF) {
    const part = entries.slice(first, first + ENTRIES_PER_LEAF)
    const leaf = directory(part)
    root.push({ id: part[0]?.id ?? 0, offset: leafOffset, length: leaf.length, run: 0 })
    leaves.push(leaf)
    leafOffset += leaf.length
  }
  const data = Buffer.concat(contents)
  const parts = [directory(root), gzipSync(JSON.stringify(metadata)), Buffer.concat(leaves), data]
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('PMTiles', 'latin1')
  header.writeUInt8(3, 7)
  let offset = HEADER_BYTES
  for (const [index, { length }] of parts.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + 16 * index)
    header.writeBigUInt64LE(BigInt(length), 16 + 16 * index)
    offset += length
  }
  header.writeBigUInt64LE(BigInt(tiles.length), 72)
  header.writeBigUInt64LE(BigInt(entries.length), 80)
  header.writeBigUInt64LE(BigInt(contents.length), 88)
  const isClustered = 1
  header.set([isClustered, GZIP, GZIP, VECTOR_TILES, minZoom, maxZoom], 96)
  bounds.forEach((degrees, index) =>
    header.writeInt32LE(Math.round(degrees * 1e7), 102 + 4 * index),
  )
  const [west, south, east, north] = bounds
  header.writeUInt8(minZoom, 118)
  header.writeInt32LE(Math.round(((west + east) / 2) * 1e7), 119)
  header.writeInt32LE(Math.round(((south + north) / 2) * 1e7), 123)
  return Buffer.concat([header, ...parts])
}

/**
 * The tiles' contents in the order of their ids, each stored once, however many tiles are equal.
 */
function storeTiles(tiles: readonly Tile[]): { entries: Entry[]; contents: Buffer[] } {
  const entries: Entry[] = []
  const contents: Buffer[] = []
  const places = new Map<string, { readonly offset: number; readonly length: number }>()
  let end = 0
  const inOrder = tiles
    .map(({ z, x, y, data }) => ({ id: zxyToTileId(z, x, y), data }))
    .sort((a, b) => a.id - b.id)
  for (const { id, data } of inOrder) {
    const hash = createHash('sha256').update(data).digest('base64')
    let place = places.get(hash)
    if (place === undefined) {
      const content = gzipSync(data, { level: 9 })
      place = { offset: end, length: content.length }
      places.set(hash, place)
      contents.push(content)
      end += content.length
    }
    const last = entries.at(-1)
    if (last?.offset === place.offset && last.id + last.run === id) last.run += 1
    else entries.push({ id, ...place, run: 1 })
  }
  return { entries, contents }
}

function directory(entries: readonly Entry[]): Buffer {
  const bytes: number[] = []
  varint(bytes, entries.length)
  let id = 0
  for (const entry of entries) {
    varint(bytes, entry.id - id)
    id = entry.id
  }
  for (const { run } of entries) varint(bytes, run)
  for (const { length } of entries) varint(bytes, length)
  let expected = -1
  for (const { offset, length } of entries) {
    varint(bytes, offset === expected ? 0 : offset + 1)
    expected = offset + length
  }
  return gzipSync(Buffer.from(bytes), { level: 9 })
}

function varint(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}
