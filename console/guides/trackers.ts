/** A tracker, and what the decoder in The Things Stack's device repository, or its maker's, makes of a report. */
export type Tracker = {
  readonly name: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Trackers that are known to work: the tests send each payload by both network servers. */
export const TRACKERS: readonly Tracker[] = [
  {
    name: 'Dragino LGT-92',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      altitude: 180,
      hdop: 0.9,
      BatV: 3.36,
      LON: 'ON',
      MD: 'Move',
      ALARM_status: 'FALSE',
    },
  },
  {
    name: 'Dragino TrackerD',
    payload: {
      Latitude: 48.2082,
      Longitud: 16.3738,
      Location: '48.2082,16.3738',
      LON: 'ON',
      ALARM_status: 'FALSE',
      Transport: 'MOVE',
      Hum: 43,
      Tem: 21.8,
    },
  },
  {
    name: 'Digital Matter Oyster',
    payload: {
      type: 'position',
      latitudeDeg: 48.2082,
      longitudeDeg: 16.3738,
      headingDeg: 90,
      speedKmph: 36,
      fixFailed: false,
      inTrip: true,
      batV: 4.85,
    },
  },
  {
    name: 'Seeed SenseCAP T1000',
    payload: {
      valid: true,
      messages: [
        [
          { measurementId: '4197', type: 'Longitude', measurementValue: 16.3738 },
          { measurementId: '4198', type: 'Latitude', measurementValue: 48.2082 },
          { measurementId: '4097', type: 'Air Temperature', measurementValue: 21.8 },
          { measurementId: '3000', type: 'Battery', measurementValue: 80 },
        ],
      ],
    },
  },
  {
    name: 'Seeed Wio LoRaWAN Field Tester',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      altitude: 180,
      accuracy: 2.5,
      hdop: 0.5,
      sats: 9,
    },
  },
  {
    name: 'Milesight AT101',
    payload: {
      latitude: 48.2082,
      longitude: 16.3738,
      battery: 80,
      temperature: 21.8,
      motion_status: 'moving',
      position: 'normal',
    },
  },
  {
    name: 'Abeeway Asset Tracker 3',
    payload: {
      header: { type: 'POSITION', batteryLevel: 80, sos: false },
      position: {
        positionType: 'GNSS',
        status: 'SUCCESS',
        gnssFix: { latitude: 48.2082, longitude: 16.3738, altitude: 180 },
      },
    },
  },
  {
    name: 'Cayenne LPP',
    payload: {
      gps_1: { latitude: 48.2082, longitude: 16.3738, altitude: 180 },
      temperature_2: 21.8,
    },
  },
]
