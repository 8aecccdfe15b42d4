import { gazetteer } from '../admin-api/places/gazetteer.ts'
import { measureCpuMicros } from './cpu-time.ts'
import { progress, runJob } from './fork.ts'
import { median } from './statistics.ts'
import type { Part, Row } from './part.ts'

const PLACES = 10_000
const ROUNDS = 5

export async function measurePlaces(): Promise<Part> {
  progress('names of places')
  const row = await runJob<Row>('namePlaces', {})
  return { title: 'Naming places', rows: [row], faults: [], rounds: 1 }
}

/** Finds place names all over Central Europe, where towns are dense. */
export async function namePlaces(): Promise<Row> {
  const before = process.memoryUsage.rss()
  const reading = measureCpuMicros()
  const towns = await gazetteer()
  const readMicros = reading()
  const places = Array.from({ length: PLACES }, (_, n) => ({
    latitude: 46 + (((n * 7_919) % 10_007) / 10_007) * 8,
    longitude: 6 + (((n * 104_729) % 10_009) / 10_009) * 12,
  }))
  const rounds = Array.from({ length: ROUNDS }, () => {
    const naming = measureCpuMicros()
    for (const place of places) towns.nearest(place)
    return naming() / 1_000
  })
  return {
    towns: towns.size,
    'read once, CPU ms': Math.round(readMicros / 1_000),
    'MB held': towns.bytes / 1e6,
    'MB more in all': (process.memoryUsage.rss() - before) / 1e6,
    '10 000 names, CPU ms': Math.round(median(rounds)),
    'first 10 000': Math.round(Math.max(...rounds)),
  }
}
