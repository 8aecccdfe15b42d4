/** A length of the map's scale: 1, 2 or 5 times a power of ten. */
export type Scale = { readonly text: string; readonly pixels: number }

const WIDEST_PIXELS = 110

/** The longest round length that fits into the scale. */
export function scaleFor(metresPerPixel: number): Scale {
  const widest = metresPerPixel * WIDEST_PIXELS
  const unit = 10 ** Math.floor(Math.log10(widest))
  const metres = ([5, 2, 1].find((times) => times * unit <= widest) ?? 1) * unit
  const text = metres < 1_000 ? `${metres} m` : `${metres / 1_000} km`
  return { text, pixels: Math.round(metres / metresPerPixel) }
}
