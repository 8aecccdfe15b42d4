/** Prints the current step of the bench on standard error, so that the tables can be piped. */
export type BenchProgress = (doing: string) => void

export function progressOn(
  screen: { write(text: string): unknown },
  now: () => number,
): BenchProgress {
  const begin = now()
  return (doing) => {
    screen.write(`${String(Math.round((now() - begin) / 1000)).padStart(4)} s  ${doing}\n`)
  }
}
