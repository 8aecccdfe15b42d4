/** Pseudo-random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Roughly normal with mean 0 and variance 1, within ±6: a sum of twelve uniform numbers. */
export function normal(random: () => number): number {
  let sum = -6
  for (let drawn = 0; drawn < 12; drawn += 1) sum += random()
  return sum
}
