/** Brings dist/ up to date. Rejects if the sources do not compile, with the place of the fault. */
export function build(): Promise<void>
