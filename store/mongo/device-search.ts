import type { Document, Filter } from 'mongodb'
import { SILENCE } from '../../schemas/liveness.ts'
import type { DevicePage } from '../read-models.ts'
import { spellings, type Spelling } from '../spellings.ts'
import type { DeviceStatusDocument } from './collections.ts'

/** Pipeline stages that filter devices, including by their settings. */
export function searched({ mentions, status }: DevicePage, settings: string): Document[] {
  if (mentions === undefined && status === undefined) return []
  return [
    { $lookup: { from: settings, localField: '_id', foreignField: '_id', as: 'settings' } },
    { $set: { settings: { $first: '$settings' } } },
    { $match: { $and: [...mentioning(mentions), ...lively(status)] } },
    { $unset: 'settings' },
  ]
}

/** Index bounds for a list of ids and prefixes. */
export function listed(devices: readonly string[] | undefined): Filter<DeviceStatusDocument>[] {
  if (devices === undefined) return []
  const patterns = devices.map((one) =>
    one.endsWith('*') ? new RegExp(`^${escaped(one.slice(0, -1))}`) : one,
  )
  return [{ deviceId: { $in: patterns } }]
}

function mentioning(text: string | undefined): Document[] {
  if (text === undefined) return []
  // No stored text contains it, and patterns must not.
  if (text.includes('\0')) return [{ $expr: false }]
  const patterns = spellings(text).map(pattern)
  const matches = (field: string) => patterns.map((regex) => ({ [field]: regex }))
  return [{ $or: [...matches('deviceId'), ...matches('settings.name')] }]
}

/** Lists both cases of each letter: the server's own option only knows ASCII capitals. */
function pattern(places: readonly Spelling[]): RegExp {
  const texts = places.map((letters) =>
    letters.length > 1 ? `(?:${letters.join('|')})` : escaped(letters[0] ?? ''),
  )
  return new RegExp(texts.join(''))
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function lively(status: DevicePage['status']): Document[] {
  if (status === undefined) return []
  const { is, now } = status
  const isAtMost = (name: keyof typeof SILENCE) => {
    const { longestMs, intervals, leastMs } = SILENCE[name]
    const interval = '$settings.expectedIntervalSeconds'
    return {
      $lte: [
        { $subtract: [new Date(now), '$lastSeenAt'] },
        {
          $cond: [
            { $isNumber: interval },
            { $max: [{ $multiply: [interval, intervals * 1_000] }, leastMs] },
            longestMs,
          ],
        },
      ],
    }
  }
  const [online, idle] = [isAtMost('online'), isAtMost('idle')]
  switch (is) {
    case 'online':
      return [{ $expr: online }]
    case 'idle':
      return [{ $expr: { $and: [idle, { $not: [online] }] } }]
    case 'offline':
      return [{ $expr: { $not: [idle] } }]
  }
}
