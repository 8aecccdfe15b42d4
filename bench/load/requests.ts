/** Where requests go, and what they carry. */
export type Target = {
  readonly url: string
  readonly key: string
  /** Reports per request; 1: single submits. */
  readonly batch: number
  /** How many devices report in turn; by default as many that each stays far below its limit. */
  readonly devices?: number
}

const DEVICES = 20_000

let made = 0

/**
 * Makes the next request, as text. No report equals another one, so each is one record: they differ
 * in device or coordinates. They have what a phone sends, the device's own time included.
 */
export function requestMaker({ url, key, batch, devices = DEVICES }: Target): () => string {
  const { host } = new URL(url)
  const path = batch === 1 ? '/api/v1/gps/submit' : '/api/v1/gps/batch'
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: '
  return () => {
    const body = batch === 1 ? report(devices) : `{"reports":[${reports(batch, devices)}]}`
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

function reports(count: number, devices: number): string {
  let text = report(devices)
  for (let more = 1; more < count; more += 1) text += `,${report(devices)}`
  return text
}

function report(devices: number): string {
  made += 1
  const round = Math.floor(made / devices)
  return (
    `{"deviceId":"bench-${made % devices}","latitude":${(round % 179_000) / 1000 - 89.4321}` +
    `,"longitude":${13 + (made % 1000) / 1000},"timestamp":"${new Date().toISOString()}"` +
    ',"accuracy":4.5,"altitude":112.3,"speed":13.9,"heading":271,"battery":0.83}'
  )
}
