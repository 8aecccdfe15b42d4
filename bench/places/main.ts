import { gazetteer } from '../../admin-api/places/gazetteer.ts'
import { carryOut } from '../fork.ts'

const PLACES = 10_000
const ROUNDS = 5

/** Names places all over Central Europe, where towns are dense. */
carryOut(async function namePlaces() {
  const before = memoryOf(process.memoryUsage())
  const cpu = process.cpuUsage()
  const towns = await gazetteer()
  const load = millisecondsOf(process.cpuUsage(cpu))
  const places = Array.from({ length: PLACES }, (_, n) => ({
    latitude: 46 + (((n * 7_919) % 10_007) / 10_007) * 8,
    longitude: 6 + (((n * 104_729) % 10_009) / 10_009) * 12,
  }))
  const rounds = Array.from({ length: ROUNDS }, () => {
    const began = process.cpuUsage()
    for (const place of places) towns.nearest(place)
    return millisecondsOf(process.cpuUsage(began))
  })
  return {
    towns: towns.size,
    'read once, CPU ms': Math.round(load),
    'MB held': towns.bytes / 1e6,
    'MB more in all': (memoryOf(process.memoryUsage()) - before) / 1e6,
    '10 000 names, CPU ms': Math.round(rounds.sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN),
    'first 10 000': Math.round(Math.max(...rounds)),
  }
})

function millisecondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000
}

function memoryOf({ rss }: NodeJS.MemoryUsage): number {
  return rss
}
