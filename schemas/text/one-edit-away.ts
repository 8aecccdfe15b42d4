/**
 * Whether two words are equal, or differ by one letter added, removed or replaced, or two swapped.
 */
export function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1
    endB -= 1
  }
  const [more, less] = [a.slice(start, endA), b.slice(start, endB)]
  if (more.length <= 1 && less.length <= 1) return true
  return more.length === 2 && more[0] === less[1] && more[1] === less[0] && less.length === 2
}
