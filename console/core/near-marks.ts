/** Cells that share a list only cost time. */
const LISTS = 2 ** 15
const END = -1

/**
 * A spatial index of marks on a cylinder, by number.
 *
 * @param most the maximum number of marks.
 * @param around the circumference, after which `x` begins again at 0.
 * @param cell twice the radius of most marks: wider cells hold more marks to compare in vain.
 */
export function nearMarks({ most, around, cell }: { most: number; around: number; cell: number }) {
  const columns = Math.max(1, Math.floor(around / cell))
  const width = around / columns
  const xs = new Float64Array(most)
  const ys = new Float64Array(most)
  const radii = new Float64Array(most)
  /** The first mark of each list, and after each mark the next one. */
  const firsts = new Int32Array(LISTS).fill(END)
  const nexts = new Int32Array(most)
  let count = 0
  let largest = 0

  const listOf = (column: number, row: number) =>
    (Math.imul(column, 73_856_093) ^ Math.imul(row, 19_349_663)) & (LISTS - 1)
  const listAt = (mark: number) => {
    // Rounding may lead to the column after the last one.
    const column = Math.min(columns - 1, Math.floor((xs[mark] ?? 0) / width))
    return listOf(column, Math.floor((ys[mark] ?? 0) / cell))
  }

  return {
    /** Returns the mark's number: how many were added before it. */
    add(x: number, y: number, radius: number): number {
      const mark = count
      count += 1
      xs[mark] = x - around * Math.floor(x / around)
      ys[mark] = y
      radii[mark] = radius
      largest = Math.max(largest, radius)
      const list = listAt(mark)
      nexts[mark] = firsts[list] ?? END
      firsts[list] = mark
      return mark
    },
    remove(mark: number): void {
      const list = listAt(mark)
      const next = nexts[mark] ?? END
      let before = firsts[list] ?? END
      if (before === mark) firsts[list] = next
      else {
        while (nexts[before] !== mark) before = nexts[before] ?? END
        nexts[before] = next
      }
    },
    /** The nearest other mark that overlaps this one. */
    overlapping(mark: number): number | undefined {
      const [x = 0, y = 0, radius = 0] = [xs[mark], ys[mark], radii[mark]]
      const reach = radius + largest
      const first = Math.floor((x - reach) / width)
      const last = Math.min(Math.floor((x + reach) / width), first + columns - 1)
      const lowest = Math.floor((y + reach) / cell)
      let nearest: number | undefined
      let least = Infinity
      for (let row = Math.floor((y - reach) / cell); row <= lowest; row += 1) {
        for (let step = first; step <= last; step += 1) {
          const column = step < 0 ? step + columns : step >= columns ? step - columns : step
          for (let at = firsts[listOf(column, row)] ?? END; at !== END; at = nexts[at] ?? END) {
            const across = Math.abs((xs[at] ?? 0) - x)
            const dx = Math.min(across, around - across)
            const dy = (ys[at] ?? 0) - y
            const square = dx * dx + dy * dy
            const enough = radius + (radii[at] ?? 0)
            if (square >= least || square >= enough * enough || at === mark) continue
            least = square
            nearest = at
          }
        }
      }
      return nearest
    },
  }
}
