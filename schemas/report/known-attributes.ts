type KnownAttribute = {
  readonly type: 'number' | 'boolean' | 'text'
  /** The unit of a number, if it has one. */
  readonly unit?: string
}

/** The attributes with a defined meaning; all others are stored as sent. */
export const KNOWN_ATTRIBUTES: Readonly<Record<string, KnownAttribute>> = {
  ignition: { type: 'boolean' },
  motion: { type: 'boolean' },
  charging: { type: 'boolean' },
  odometer: { type: 'number', unit: 'm' },
  verticalAccuracy: { type: 'number', unit: 'm' },
  satellites: { type: 'number' },
  hdop: { type: 'number' },
  temperature: { type: 'number', unit: '°C' },
  humidity: { type: 'number', unit: '%' },
  pressure: { type: 'number', unit: 'hPa' },
  steps: { type: 'number' },
  fuel: { type: 'number', unit: 'l' },
  rpm: { type: 'number', unit: '1/min' },
  engineHours: { type: 'number', unit: 'h' },
  rssi: { type: 'number', unit: 'dBm' },
  snr: { type: 'number', unit: 'dB' },
  /** The activity of the device's carrier: `walking`, `driving`, … as reported by the app. */
  activity: { type: 'text' },
  /** `wifi`, `mobile` or `offline`. */
  connection: { type: 'text' },
  /** The reason why the app reported. */
  trigger: { type: 'text' },
  /** `sos`, `powerCut`, … */
  alarm: { type: 'text' },
  event: { type: 'text' },
}
