import { turnTaker } from '../../runtime/end-of-turn.ts'
import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'
import type { Gazetteer, Town } from './gazetteer.ts'
import { foldName, matchName, type NameMatch, type SearchedName } from './name-match.ts'

export type FoundTown = { readonly town: Town; readonly match: NameMatch }

/** Towns this much nearer count like ones with more people. */
const NEAR_METRES = 10_000
/** A village near by comes before a far one whose whole name was typed, but not before Paris. */
const WEIGHTS: Readonly<Record<NameMatch, number>> = { whole: 10, beginning: 3, words: 1 }
const FOLDED_IN_A_PIECE = 1_000
const NEWLINE = '\n'

/** Finds towns by name. All names are one text, so that a search takes a few milliseconds. */
export class TownSearch {
  readonly #towns: Gazetteer
  readonly #text: string
  /** Where each name begins in the text. */
  readonly #starts: Uint32Array

  static async of(towns: Gazetteer): Promise<TownSearch> {
    const starts = new Uint32Array(towns.size)
    const endTurn = turnTaker()
    let text = ''
    for (let town = 0; town < towns.size; town += 1) {
      starts[town] = text.length
      text += foldName(towns.nameOf(town)) + NEWLINE
      if (town % FOLDED_IN_A_PIECE === 0) await endTurn()
    }
    return new TownSearch(towns, text, starts)
  }

  private constructor(towns: Gazetteer, text: string, starts: Uint32Array) {
    this.#towns = towns
    this.#text = text
    this.#starts = starts
  }

  /** Large and near ones first. */
  find(searched: SearchedName, { near, most }: { near?: Coordinates | undefined; most: number }) {
    const [first = ''] = searched.words
    const found: { town: number; match: NameMatch; weight: number }[] = []
    let at = this.#text.indexOf(first)
    while (at !== -1) {
      const end = this.#text.indexOf(NEWLINE, at)
      const town = this.#townAt(at)
      const around = searched.words.length > 1 ? foldName(this.#towns.cityOf(town) ?? '') : ''
      const match = matchName(searched, this.#text.slice(this.#starts[town], end), around)
      if (match !== undefined) {
        found.push({ town, match, weight: this.#weight(town, near) * WEIGHTS[match] })
      }
      at = this.#text.indexOf(first, end)
    }
    return found
      .sort((a, b) => b.weight - a.weight)
      .slice(0, most)
      .map(({ town, match }): FoundTown => ({ town: this.#towns.townAt(town), match }))
  }

  #weight(town: number, near: Coordinates | undefined): number {
    const { population, ...position } = this.#towns.sizeOf(town)
    const metres = near === undefined ? 0 : metresBetween(near, position)
    return (population + 500) / (metres + NEAR_METRES) ** 2
  }

  /** The last town whose name begins at or before a place in the text. */
  #townAt(place: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] as number) <= place) low = middle
      else high = middle - 1
    }
    return low
  }
}
