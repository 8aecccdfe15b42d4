import type { FeatureLike } from 'ol/Feature.js'

/** A word of Protomaps' schema; empty if the feature has none. */
export function wordOf(feature: FeatureLike, name: string): string {
  const value = valueOf(feature, name)
  return typeof value === 'string' ? value : ''
}

/** A number of Protomaps' schema; `otherwise` if the feature has none. */
export function numberOf(feature: FeatureLike, name: string, otherwise: number): number {
  const value = valueOf(feature, name)
  return typeof value === 'number' ? value : otherwise
}

/** Whether a mark of Protomaps' schema is set: it is true, or a number other than 0. */
export function isMarked(feature: FeatureLike, name: string): boolean {
  return Boolean(valueOf(feature, name))
}

export function shapeOf(feature: FeatureLike): 'area' | 'line' | 'point' {
  const type = feature.getGeometry()?.getType() ?? ''
  return type.endsWith('Polygon') ? 'area' : type.endsWith('LineString') ? 'line' : 'point'
}

/** The third version of the schema writes `pmap:` before all of its words but names. */
function valueOf(feature: FeatureLike, name: string): unknown {
  return feature.get(name) ?? feature.get(`pmap:${name}`)
}
