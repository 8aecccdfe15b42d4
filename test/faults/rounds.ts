/** The number of measurements, so that a busy moment of the machine decides nothing. */
const ROUNDS = 5

/** Whether further rounds can no longer change the verdict on any measure's median. */
export function isDecided(...measures: (readonly boolean[])[]): boolean {
  return measures.every((passed) => {
    const passes = passed.filter(Boolean).length
    return Math.max(passes, passed.length - passes) > ROUNDS / 2
  })
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
