import type { PositionRecord } from '../../../schemas/devices/read-models.ts'
import { RECORD, recordView } from '../../http/views.ts'
import { LABELS } from '../label-rules.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * RFC 7946: a collection of points, each with the rest of its record as properties. The device's
 * name and labels are members of the collection; GDAL uses the name as the layer's name.
 */
export const geoJson: ExportFormat = {
  mediaType: 'application/geo+json',
  extension: 'geojson',
  schema: {
    title: 'RecordFeatures',
    type: 'object',
    required: ['type', 'features'],
    properties: {
      type: { const: 'FeatureCollection' },
      name: { type: 'string', description: 'The name of the device, if it has one' },
      labels: { ...LABELS, description: 'The labels of the device, if it has any' },
      features: {
        type: 'array',
        items: {
          title: 'RecordFeature',
          type: 'object',
          required: ['type', 'geometry', 'properties'],
          properties: {
            type: { const: 'Feature' },
            geometry: {
              type: 'object',
              required: ['type', 'coordinates'],
              properties: {
                type: { const: 'Point' },
                coordinates: {
                  type: 'array',
                  description: 'Longitude, latitude and, if known, altitude',
                  items: { type: 'number' },
                  minItems: 2,
                  maxItems: 3,
                },
              },
              additionalProperties: false,
            },
            properties: restOfRecord(),
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  },

  async *write(pages, { name, labels }) {
    const members = JSON.stringify({ type: 'FeatureCollection', name, labels })
    yield `${members.slice(0, -1)},"features":[`
    let separator = '\n'
    for await (const page of pages) {
      const features = page.map((record) => JSON.stringify(feature(record)))
      yield separator + features.join(',\n')
      separator = ',\n'
    }
    yield '\n]}\n'
  },
}

function feature(record: PositionRecord) {
  const { latitude, longitude, altitude, ...properties } = recordView(record)
  const place = [longitude, latitude]
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: altitude === undefined ? place : [...place, altitude] },
    properties,
  }
}

function restOfRecord() {
  const inGeometry = new Set(['latitude', 'longitude', 'altitude'])
  const { required, properties } = RECORD as { required: string[]; properties: object }
  return {
    title: 'RecordProperties',
    type: 'object',
    required: required.filter((name) => !inGeometry.has(name)),
    properties: Object.fromEntries(
      Object.entries(properties).filter(([name]) => !inGeometry.has(name)),
    ) as object,
    additionalProperties: false,
  }
}
