/** One word of a POSIX shell. */
export function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
