/** In a file without Node's modules, because the console imports it. */

export const FACT_TYPES = [
  'device.online',
  'device.offline',
  'geofence.entered',
  'geofence.left',
  'rule.raised',
  'rule.cleared',
  'alarm.reported',
] as const
export type FactType = (typeof FACT_TYPES)[number]
