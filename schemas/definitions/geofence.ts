import type { FieldRevisions } from './field-revisions.ts'
import type { DeviceSelection } from './selection.ts'

export const MOST_VERTICES = 1_000
export const MOST_GEOFENCES = 10_000
/** The limit for all geofences of an account together; a circle counts as one. */
/** Maximum size of an account's geofences, rules and subscriptions together, as JSON bytes. */
export const MOST_DEFINITION_BYTES = 16 * 1024 * 1024
export const MOST_VERTICES_OF_ACCOUNT = 200_000
export const LONGEST_CONFIRM_SECONDS = 3_600

/** Longitude and latitude in degrees, in GeoJSON's order. */
export type LonLat = readonly [longitude: number, latitude: number]
/** Closed: the last position repeats the first. */
export type PolygonRing = readonly LonLat[]

/** The area of a geofence: a circle with a radius in metres, or a GeoJSON geometry (RFC 7946). */
export type GeofenceShape = CircleShape | PolygonShape | MultiPolygonShape
export type CircleShape = {
  readonly type: 'circle'
  readonly latitude: number
  readonly longitude: number
  readonly radius: number
}
export type PolygonShape = {
  readonly type: 'Polygon'
  readonly coordinates: readonly PolygonRing[]
}
export type MultiPolygonShape = {
  readonly type: 'MultiPolygon'
  readonly coordinates: readonly (readonly PolygonRing[])[]
}

/** The fields of a geofence that operators set. */
export type GeofenceContent = DeviceSelection & {
  readonly name: string
  readonly externalId?: string
  readonly shape: GeofenceShape
  readonly properties?: Readonly<Record<string, string>>
  /** How long a device must stay on the new side before it counts as having entered or left. */
  readonly confirmSeconds: number
  readonly enabled: boolean
}

/** A geofence. Times in milliseconds since the epoch. */
export type Geofence = GeofenceContent & {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  /** Increases with every change. */
  readonly revision: number
  readonly changedIn?: FieldRevisions
  /** When an operator last changed the geofence. */
  readonly changedAt: number
  /**
   * When its shape, its devices, `confirmSeconds` or `enabled` last changed: devices already inside
   * then are inside without a fact.
   */
  readonly inForceSince: number
  /** When the geofence was last enabled after having been disabled, if ever. */
  readonly enabledSince?: number
}

/** A geofence as named in a fact. */
export type NamedGeofence = Pick<Geofence, 'id' | 'externalId' | 'name' | 'revision' | 'properties'>

export function pickGeofenceName({
  id,
  externalId,
  name,
  revision,
  properties,
}: NamedGeofence): NamedGeofence {
  return {
    id,
    ...(externalId !== undefined && { externalId }),
    name,
    revision,
    ...(properties !== undefined && { properties }),
  }
}

export function verticesOf(shape: GeofenceShape): number {
  if (shape.type === 'circle') return 1
  // The last position of a ring repeats the first.
  return polygonsOf(shape)
    .flat()
    .reduce((sum, ring) => sum + ring.length - 1, 0)
}

export function polygonsOf(
  shape: PolygonShape | MultiPolygonShape,
): readonly (readonly PolygonRing[])[] {
  return shape.type === 'Polygon' ? [shape.coordinates] : shape.coordinates
}
