/**
 * A device id derived from a name: `Anna’s phone` becomes `annas-phone`. Letters of every script
 * remain, without accents that can be decomposed.
 */
export function idFor(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, LONGEST)
    .toWellFormed()
    .replace(/^-|-$/g, '')
}

const LONGEST = 64
