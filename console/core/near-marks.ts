/** Marks of a plane by number, found by nearness. */
export type NearMarks = ReturnType<typeof nearMarks>

/** Cells that share a list are only looked through in vain. */
const LISTS = 2 ** 15

/** @param reach is the furthest at which `nearest` finds a mark. */
export function nearMarks(reach: number) {
  const lists: (number[] | undefined)[] = Array.from({ length: LISTS })
  const xs: number[] = []
  const ys: number[] = []
  const radii: number[] = []

  const listOf = (column: number, row: number) =>
    (Math.imul(column, 73_856_093) ^ Math.imul(row, 19_349_663)) & (LISTS - 1)

  return {
    /** Returns the mark's number: how many were added before it. */
    add(x: number, y: number, radius: number): number {
      const mark = xs.push(x) - 1
      ys.push(y)
      radii.push(radius)
      const list = listOf(Math.floor(x / reach), Math.floor(y / reach))
      const there = lists[list]
      if (there === undefined) lists[list] = [mark]
      else there.push(mark)
      return mark
    },
    remove(mark: number): void {
      const [x = 0, y = 0] = [xs[mark], ys[mark]]
      const there = lists[listOf(Math.floor(x / reach), Math.floor(y / reach))] ?? []
      const last = there.pop()
      const at = there.indexOf(mark)
      if (last !== undefined && at >= 0) there[at] = last
    },
    /** The nearest other mark that overlaps this one. */
    overlapping(mark: number): number | undefined {
      const [x = 0, y = 0, radius = 0] = [xs[mark], ys[mark], radii[mark]]
      const [column, row] = [Math.floor(x / reach), Math.floor(y / reach)]
      let nearest: number | undefined
      let least = Infinity
      for (let down = row - 1; down <= row + 1; down += 1) {
        for (let across = column - 1; across <= column + 1; across += 1) {
          for (const other of lists[listOf(across, down)] ?? []) {
            const [dx, dy] = [(xs[other] ?? 0) - x, (ys[other] ?? 0) - y]
            const square = dx * dx + dy * dy
            const enough = radius + (radii[other] ?? 0)
            if (square >= least || square >= enough * enough || other === mark) continue
            least = square
            nearest = other
          }
        }
      }
      return nearest
    },
  }
}
