/** Brings dist/ up to date. Rejects if the sources do not compile; the compiler prints why. */
export function build(): Promise<void>
