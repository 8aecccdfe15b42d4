import type { PolygonRing } from '../definitions/geofence.ts'
import { unwrapRing } from './bounds.ts'

type Polygon = readonly PolygonRing[]

export type JoinedPolygons = {
  readonly parts: readonly Polygon[]
  /** The area's edges, as lines whose longitudes do not jump. */
  readonly lines: () => readonly PolygonRing[]
}

/** A part of an edge on the 180th meridian. */
type SeamEdge = {
  readonly south: number
  readonly north: number
  /** Whether the polygon lies to the west of it. */
  readonly isWest: boolean
}

/**
 * RFC 7946 splits areas at the 180th meridian. Polygons that meet there from both sides are one
 * area, and have no edge where they meet.
 */
export function joinAtSeam(polygons: readonly Polygon[]): readonly JoinedPolygons[] {
  const seams = polygons.length > 1 ? polygons.map(seamEdgesOf) : []
  const groupOf = polygons.map((_, n) => n)
  for (const [n, edges] of seams.entries()) {
    for (let other = 0; other < n; other += 1) {
      if (!edges.some((edge) => seams[other]?.some((one) => isBeside(edge, one)))) continue
      const [from, to] = [groupOf[n], groupOf[other]!]
      for (const [place, group] of groupOf.entries()) if (group === from) groupOf[place] = to
    }
  }
  return [...new Set(groupOf)].map((group) => {
    const members = groupOf.flatMap((one, n) => (one === group ? [n] : []))
    const parts = members.map((n) => polygons[n]!)
    return {
      parts,
      lines() {
        const rings = parts.flat().map(unwrapRing)
        if (parts.length === 1) return rings
        return [...rings.flatMap(linesBesideSeam), ...outerSeams(members.flatMap((n) => seams[n]!))]
      },
    }
  })
}

function seamEdgesOf(rings: Polygon): readonly SeamEdge[] {
  return rings.map(unwrapRing).flatMap((ring, place) => {
    const isInsideLeft = isCounterclockwise(ring) === (place === 0)
    return ring.slice(1).flatMap(([longitude, to], n): SeamEdge[] => {
      const [before, from] = ring[n]!
      if (!isOnSeam(longitude) || before !== longitude || from === to) return []
      const isWest = to > from === isInsideLeft
      return [{ south: Math.min(from, to), north: Math.max(from, to), isWest }]
    })
  })
}

function isOnSeam(longitude: number): boolean {
  return Math.abs(longitude) % 360 === 180
}

function isCounterclockwise(ring: PolygonRing): boolean {
  const doubled = ring.reduce((sum, [x, y], n) => {
    const [beforeX, beforeY] = ring[n - 1] ?? [x, y]
    return sum + (beforeX * y - x * beforeY)
  }, 0)
  return doubled > 0
}

function isBeside(a: SeamEdge, b: SeamEdge): boolean {
  return a.isWest !== b.isWest && Math.max(a.south, b.south) < Math.min(a.north, b.north)
}

/** The edges of a ring that are not on the meridian. */
function linesBesideSeam(ring: PolygonRing): PolygonRing[] {
  return ring.slice(1).flatMap((to, n): PolygonRing[] => {
    const from = ring[n]!
    return isOnSeam(to[0]) && from[0] === to[0] ? [] : [[from, to]]
  })
}

/** The parts of the meridian with a polygon on one side only. */
function outerSeams(edges: readonly SeamEdge[]): PolygonRing[] {
  const ends = [...new Set(edges.flatMap(({ south, north }) => [south, north]))]
  ends.sort((a, b) => a - b)
  return ends.slice(1).flatMap((north, n): PolygonRing[] => {
    const south = ends[n]!
    const around = edges.filter((edge) => edge.south <= south && edge.north >= north)
    const west = around.filter(({ isWest }) => isWest).length
    if (2 * west === around.length) return []
    return [
      [
        [180, south],
        [180, north],
      ],
    ]
  })
}
