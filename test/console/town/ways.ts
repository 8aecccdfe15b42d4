import { BLOCK, blocks, riverNorth, type Block } from './blocks.ts'
import type { Spot } from './plane.ts'

/** A road, railway or path, in the words of Protomaps' schema. */
export type Way = {
  readonly spots: readonly Spot[]
  readonly kind: 'highway' | 'major_road' | 'minor_road' | 'path' | 'rail'
  readonly detail: string
  readonly name?: string
  readonly isBridge?: boolean
}

const NAMES = [
  ...['Linden', 'Schul', 'Kirchen', 'Garten', 'Berg', 'Wald', 'Rosen', 'Mühl', 'Birken', 'Bach'],
  ...['Feld', 'Wiesen', 'Brunnen', 'Sonnen', 'Ahorn', 'Amsel', 'Post', 'Markt', 'Eichen', 'Blumen'],
]
const ENDINGS = ['gasse', 'straße', 'weg']

export function ways(): Way[] {
  return [...streets(), ...bridges(), ...throughRoads(), ...paths()]
}

/** The sides of the blocks, each row and column of them one street. */
function streets(): Way[] {
  const built = new Set(blocks().map(({ west, south }) => `${west} ${south}`))
  const isBlock = (column: number, row: number) =>
    built.has(`${column * BLOCK.across} ${row * BLOCK.down}`)
  const found: Way[] = []
  for (let row = -16; row <= 16; row += 1) {
    const sides = runs(-13, 13, (column) => isBlock(column, row) || isBlock(column, row - 1))
    for (const [first, last] of sides) {
      const spots = between(first, last).map((column): Spot => at(column, row))
      found.push({ spots, ...street(row + 40, row % 4 === 0) })
    }
  }
  for (let column = -13; column <= 13; column += 1) {
    const sides = runs(-17, 17, (row) => isBlock(column, row) || isBlock(column - 1, row))
    for (const [first, last] of sides) {
      const spots = between(first, last).map((row): Spot => at(column, row))
      found.push({ spots, ...street(column + 97, column % 5 === 0) })
    }
  }
  return found
}

function at(column: number, row: number): Spot {
  return [column * BLOCK.across, row * BLOCK.down]
}

function street(number: number, isMain: boolean) {
  const name = `${NAMES[number % NAMES.length]}${ENDINGS[number % ENDINGS.length]}`
  return isMain
    ? ({
        kind: 'major_road',
        detail: 'secondary',
        name: `${name.replace(/gasse$|weg$/, 'straße')}`,
      } as const)
    : ({ kind: 'minor_road', detail: 'residential', name } as const)
}

/** First and last of each run of wanted numbers. */
function runs(from: number, to: number, isWanted: (n: number) => boolean): [number, number][] {
  const found: [number, number][] = []
  let first: number | undefined
  for (let n = from; n <= to; n += 1) {
    if (isWanted(n)) first ??= n
    else if (first !== undefined) {
      found.push([first, n])
      first = undefined
    }
  }
  return found
}

function between(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function bridges(): Way[] {
  return [-5, 0, 5].map((column) => {
    const east = column * BLOCK.across
    const north = riverNorth(east)
    return {
      spots: [-260, -90, 90, 260].map((step): Spot => [east, north + step]),
      kind: 'major_road',
      detail: 'primary',
      name: 'Brückenstraße',
      isBridge: true,
    }
  })
}

/** The roads past the town and through it. */
function throughRoads(): Way[] {
  const along = (north: (east: number) => number) =>
    between(-30, 30).map((step): Spot => [step * 100, north(step * 100)])
  return [
    {
      spots: along((east) => 1_650 + 120 * Math.sin(east / 900)),
      kind: 'highway',
      detail: 'motorway',
      name: 'A 44',
    },
    {
      spots: along((east) => -1_130 + 200 * Math.sin(east / 1_300)),
      kind: 'rail',
      detail: 'rail',
    },
    {
      spots: between(-30, 30).map((step): Spot => [0.08 * step * 100 - 40, step * 100]),
      kind: 'major_road',
      detail: 'primary',
      name: 'Hauptstraße',
    },
    {
      spots: along((east) => 40 + 0.1 * east),
      kind: 'major_road',
      detail: 'primary',
      name: 'Wiener Straße',
    },
  ]
}

/** Ways across the parks, and one along the river. */
function paths(): Way[] {
  const across = ({ west, south }: Block): Way => ({
    spots: [
      [west, south],
      [west + BLOCK.across, south + BLOCK.down],
    ],
    kind: 'path',
    detail: 'footway',
  })
  const walk = between(-20, 20).map((step): Spot => [step * 100, riverNorth(step * 100) + 62])
  return [
    ...blocks()
      .filter(({ use }) => use === 'park')
      .map(across),
    { spots: walk, kind: 'path', detail: 'footway', name: 'Uferweg' },
  ]
}
