import type { Palette } from '../core/palette.ts'

type Context = CanvasRenderingContext2D

const MOST_STAMPS = 800

let stamps = new Map<string, HTMLCanvasElement>()
let madeFor: { palette: Palette; ratio: number } | undefined

/**
 * Copies a picture to (x, y). `paint` paints it around (0, 0) when it is first needed: without a
 * GPU, painting a ring takes many times as long as copying it.
 *
 * @param name distinguishes the picture from all others.
 * @param reach how far the picture reaches from its middle, in pixels.
 */
export function stamp(
  context: Context,
  x: number,
  y: number,
  { name, reach, palette }: { name: string; reach: number; palette: Palette },
  paint: (context: Context) => void,
): void {
  const ratio = context.getTransform().a
  if (madeFor?.palette !== palette || madeFor.ratio !== ratio || stamps.size >= MOST_STAMPS) {
    stamps = new Map()
    madeFor = { palette, ratio }
  }
  const half = Math.ceil(reach * ratio)
  let picture = stamps.get(name)
  if (picture === undefined) {
    picture = document.createElement('canvas')
    picture.width = picture.height = 2 * half
    const made = picture.getContext('2d')
    made?.setTransform(ratio, 0, 0, ratio, half, half)
    if (made !== null) paint(made)
    stamps.set(name, picture)
  }
  // Between two pixels of the screen the picture would be blurred, and slow.
  const [left, top] = [Math.round(x * ratio) - half, Math.round(y * ratio) - half]
  context.drawImage(picture, left / ratio, top / ratio, (2 * half) / ratio, (2 * half) / ratio)
}
