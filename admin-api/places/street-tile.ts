import Pbf from 'pbf'

/** The named streets of a vector tile, in its own units from its north-west corner. */
export type StreetTile = {
  /** The units along each side. */
  readonly extent: number
  readonly names: readonly string[]
  /** Per line: the index of its name, the end of its points, and its box. */
  readonly nameOf: Uint16Array
  readonly ends: Uint32Array
  readonly boxes: Int16Array
  /** The coordinates of all points: to the east, to the south. */
  readonly points: Int16Array
}

export const NO_STREETS: StreetTile = {
  extent: 4096,
  names: [],
  nameOf: new Uint16Array(),
  ends: new Uint32Array(),
  boxes: new Int16Array(),
  points: new Int16Array(),
}

/** Protomaps' basemap has names on the roads, OpenMapTiles has them in a separate layer. */
const LAYERS = new Set(['roads', 'transportation_name'])
/**
 * The tags with the kind of a road: in versions 4 and 3 of Protomaps' schema, and in OpenMapTiles.
 */
const KINDS = new Set(['kind', 'pmap:kind', 'class'])
const NO_ROADS = new Set(['rail', 'transit', 'ferry', 'aerialway', 'aeroway'])
/** Larger coordinates, with their margins, do not fit into 16 bits. */
const LARGEST_EXTENT = 16_384

/** https://github.com/mapbox/vector-tile-spec/blob/master/2.1/vector_tile.proto */
const [MOVE_TO, LINE_TO] = [1, 2]
const LINES = 2

/** Reads the street layer of a Mapbox vector tile. */
export function readStreetTile(bytes: Uint8Array): StreetTile {
  const read = { extent: 4096, names: new Map<string, number>(), nameOf: [], ends: [], points: [] }
  return new Pbf(bytes).readFields(readLayer, read).ends.length === 0 ? NO_STREETS : pack(read)
}

type Reading = {
  extent: number
  readonly names: Map<string, number>
  readonly nameOf: number[]
  readonly ends: number[]
  readonly points: number[]
}

/** Offsets of a layer's parts: a part may refer to later ones. */
type StreetLayer = {
  name: string
  extent: number
  readonly keys: string[]
  readonly values: number[]
  readonly features: number[]
}

function readLayer(tag: number, read: Reading, pbf: Pbf): void {
  if (tag !== 3) return
  const end = pbf.readVarint() + pbf.pos
  const begin = pbf.pos
  const { name } = pbf.readFields(readName, { name: '' }, end)
  if (!LAYERS.has(name)) return
  pbf.pos = begin
  const found: StreetLayer = { name, extent: 4096, keys: [], values: [], features: [] }
  const layer = pbf.readFields(readParts, found, end)
  if (layer.extent <= LARGEST_EXTENT) {
    read.extent = layer.extent
    for (const feature of layer.features) readStreet(read, layer, feature, pbf)
  }
  pbf.pos = end
}

function readName(tag: number, into: { name: string }, pbf: Pbf): void {
  if (tag === 1) into.name = pbf.readString()
}

function readParts(tag: number, layer: StreetLayer, pbf: Pbf): void {
  if (tag === 2) layer.features.push(pbf.pos)
  else if (tag === 3) layer.keys.push(pbf.readString())
  else if (tag === 4) layer.values.push(pbf.pos)
  else if (tag === 5) layer.extent = pbf.readVarint()
}

type StreetFeature = { tags: number; type: number; geometry: number }

function readStreet(read: Reading, layer: StreetLayer, at: number, pbf: Pbf): void {
  const found = { tags: 0, type: 0, geometry: 0 }
  const { tags, type, geometry } = readMessageAt(at, pbf, readFeature, found)
  if (type !== LINES || tags === 0 || geometry === 0) return
  const name = readStreetName(layer, tags, pbf)
  if (name === undefined) return
  const index = read.names.get(name) ?? read.names.size
  read.names.set(name, index)
  readLines(read, geometry, pbf)
  while (read.nameOf.length < read.ends.length) read.nameOf.push(index)
}

function readMessageAt<Read>(
  at: number,
  pbf: Pbf,
  read: (tag: number, into: Read, pbf: Pbf) => void,
  into: Read,
): Read {
  pbf.pos = at
  return pbf.readMessage(read, into)
}

function readFeature(tag: number, feature: StreetFeature, pbf: Pbf): void {
  if (tag === 2) feature.tags = pbf.pos
  else if (tag === 3) feature.type = pbf.readVarint()
  else if (tag === 4) feature.geometry = pbf.pos
}

/** The name of a road; undefined for anything else. */
function readStreetName({ keys, values }: StreetLayer, at: number, pbf: Pbf): string | undefined {
  let name: number | undefined
  let kind: number | undefined
  pbf.pos = at
  const end = pbf.readVarint() + pbf.pos
  while (pbf.pos < end) {
    const key = keys[pbf.readVarint()] ?? ''
    const value = values[pbf.readVarint()]
    if (key === 'name') name = value
    else if (KINDS.has(key)) kind = value
  }
  if (name === undefined) return undefined
  if (kind !== undefined && NO_ROADS.has(readTextAt(kind, pbf))) return undefined
  return readTextAt(name, pbf) || undefined
}

/** A value's text has the same field number as a layer's name. */
function readTextAt(at: number, pbf: Pbf): string {
  return readMessageAt(at, pbf, readName, { name: '' }).name
}

function readLines({ points, ends }: Reading, at: number, pbf: Pbf): void {
  pbf.pos = at
  const end = pbf.readVarint() + pbf.pos
  let [east, south] = [0, 0]
  const isBegun = () => points.length > 2 * (ends.at(-1) ?? 0)
  while (pbf.pos < end) {
    const command = pbf.readVarint()
    const kind = command & 7
    if (kind !== MOVE_TO && kind !== LINE_TO) continue
    for (let count = command >> 3; count > 0 && pbf.pos < end; count -= 1) {
      east += pbf.readSVarint()
      south += pbf.readSVarint()
      if (kind === MOVE_TO && isBegun()) ends.push(points.length / 2)
      points.push(east, south)
    }
  }
  if (isBegun()) ends.push(points.length / 2)
}

function pack({ extent, names, nameOf, ends, points }: Reading): StreetTile {
  const boxes = new Int16Array(4 * ends.length)
  let point = 0
  for (const [line, end] of ends.entries()) {
    const box = [Infinity, Infinity, -Infinity, -Infinity] as [number, number, number, number]
    for (; point < end; point += 1) {
      const [east, south] = [points[2 * point] as number, points[2 * point + 1] as number]
      box[0] = Math.min(box[0], east)
      box[1] = Math.min(box[1], south)
      box[2] = Math.max(box[2], east)
      box[3] = Math.max(box[3], south)
    }
    boxes.set(box, 4 * line)
  }
  return {
    extent,
    names: [...names.keys()],
    nameOf: Uint16Array.from(nameOf),
    ends: Uint32Array.from(ends),
    boxes,
    points: Int16Array.from(points),
  }
}

/** Memory used, in bytes, roughly. */
export function bytesOf({ names, nameOf, ends, boxes, points }: StreetTile): number {
  const texts = names.reduce((sum, name) => sum + 2 * name.length + 24, 200)
  return texts + nameOf.byteLength + ends.byteLength + boxes.byteLength + points.byteLength
}
