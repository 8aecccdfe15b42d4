import { request } from 'node:http'
import type { SampleAnswer } from '../sample-answer.ts'

/** A running service to measure. */
export type Candidate = {
  readonly name: CandidateName
  readonly url: string
  readonly key: string
  readonly pid: number
  /** Resolves when the process has done all the work left over after its answers. */
  settled(): Promise<void>
  /** The number of reports stored so far, among all that it has ever acknowledged. */
  stored(): Promise<number>
  stop(): Promise<void>
}

export type CandidateName = 'bare node:http' | 'embedded' | 'Kafka, JSON' | 'Kafka, Avro'

/** Settings of a measured process: no rate limit ends a run, but every limit is still counted. */
export const UNHINDERED = { RATE_LIMIT_KEY: '999999999/60', RATE_LIMIT_DEVICE: '999999999/60' }

/** Sends one report and returns the answer, byte for byte. */
export function firstAnswer({ url, key }: Pick<Candidate, 'url' | 'key'>): Promise<SampleAnswer> {
  const timestamp = new Date().toISOString()
  return post(`${url}/api/v1/gps/submit`, key, {
    ...{ deviceId: 'bench-0', latitude: 52.5163, longitude: 13.3777, timestamp },
    ...{ accuracy: 4.5, altitude: 112.3, speed: 13.9, heading: 271, battery: 0.83 },
  })
}

function post(url: string, key: string, json: object): Promise<SampleAnswer> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (response) => {
      const { statusCode: status = 0, rawHeaders } = response
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status, rawHeaders, body }))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(json))
  })
}
