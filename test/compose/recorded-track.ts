export type Point = { readonly latitude: number; readonly longitude: number }

const STARTED_AT = Date.UTC(2025, 5, 1, 8)
const STEP_MS = 5_000

/** A walk of `count` points, 5 s apart, all different. */
export function walk(count: number): Point[] {
  return Array.from({ length: count }, (_, index) => ({
    latitude: round(45.77 + index * 1e-4),
    longitude: round(14.36 + Math.sin(index / 9) * 1e-3),
  }))
}

/** The walk as a GPS logger would have written it. */
export function gpx(points: readonly Point[]): string {
  const trackPoints = points.map(({ latitude, longitude }, index) => {
    const time = new Date(STARTED_AT + index * STEP_MS).toISOString()
    return `<trkpt lat="${latitude}" lon="${longitude}"><time>${time}</time></trkpt>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="a test" xmlns="http://www.topografix.com/GPX/1/1">
<trk><trkseg>
${trackPoints.join('\n')}
</trkseg></trk>
</gpx>
`
}

function round(degrees: number): number {
  return Number(degrees.toFixed(7))
}
