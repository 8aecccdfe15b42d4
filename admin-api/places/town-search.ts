import { turnTaker } from '../../runtime/end-of-turn.ts'
import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'
import { gazetteer, type Gazetteer, type Town } from './gazetteer.ts'
import { foldName, matchName, type SearchedName } from './name-match.ts'

/** Being this much nearer counts as much as having more people. */
const NEAR_METRES = 10_000
/** A nearby village ranks above a distant one with the exact name, but not above Paris. */
const WEIGHTS = [10, 3, 1]
const FOLDED_IN_A_PIECE = 1_000

let names: Promise<readonly string[]> | undefined

/** Finds towns by name, large and near ones first; `match` as `matchName` has it. */
export async function findTowns(
  searched: SearchedName,
  { near, most }: { near?: Coordinates | undefined; most: number },
): Promise<readonly { readonly town: Town; readonly match: number }[]> {
  const towns = await gazetteer()
  names ??= foldNames(towns)
  const found: { town: number; match: number; weight: number }[] = []
  for (const [town, name] of (await names).entries()) {
    const match = matchName(searched, name, () => towns.cityOf(town))
    if (match === undefined) continue
    const { population, ...position } = towns.sizeOf(town)
    const metres = near === undefined ? 0 : metresBetween(near, position)
    const weight = ((WEIGHTS[match] ?? 1) * (population + 500)) / (metres + NEAR_METRES) ** 2
    found.push({ town, match, weight })
  }
  found.sort((a, b) => b.weight - a.weight)
  return found.slice(0, most).map(({ town, match }) => ({ town: towns.townAt(town), match }))
}

async function foldNames(towns: Gazetteer): Promise<readonly string[]> {
  const folded: string[] = []
  const endTurn = turnTaker()
  for (let town = 0; town < towns.size; town += 1) {
    folded.push(foldName(towns.nameOf(town)))
    if (town % FOLDED_IN_A_PIECE === 0) await endTurn()
  }
  return folded
}
