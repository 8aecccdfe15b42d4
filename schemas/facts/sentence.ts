import { durationText } from '../text/duration-parts.ts'
import type { FactType } from './types.ts'

/** The fields of a fact that determine its sentence, in the form of the log and the API. */
export type SentenceFact = {
  readonly type: FactType
  readonly previous?: string | null
  readonly geofence?: { readonly name: string }
  readonly rule?: { readonly name: string }
  readonly alarm?: string
  readonly late?: boolean
  readonly seconds?: number | null
}

/** A part of a sentence: our words, or an external name. */
export type SentencePart = {
  readonly text: string
  readonly names?: 'device' | 'geofence' | 'rule' | 'alarm'
}

/**
 * Formats a fact as a sentence: `Van 7 left Yard after 2 h 10 min`. It contains no time: show `at`
 * beside it.
 */
export function factSentence(fact: SentenceFact, deviceName: string): string {
  return sentenceParts(fact, deviceName)
    .map(({ text }) => text)
    .join('')
}

/** Returns the sentence in parts, for callers that link or isolate the names. */
export function sentenceParts(fact: SentenceFact, deviceName: string): readonly SentencePart[] {
  return [{ text: deviceName, names: 'device' }, ...predicate(fact)]
}

function predicate(fact: SentenceFact): readonly SentencePart[] {
  const { type, previous, geofence, rule, alarm = '', late = false, seconds } = fact
  switch (type) {
    case 'device.online':
      return [
        { text: previous === 'offline' ? ' is online again' : ' reported for the first time' },
      ]
    case 'device.offline':
      return [{ text: ' went offline' }]
    case 'geofence.entered':
      return [{ text: ' entered ' }, nameOf(geofence, 'geofence')]
    case 'geofence.left':
      return [{ text: ' left ' }, nameOf(geofence, 'geofence'), ...formatAfter(seconds)]
    case 'rule.raised':
      return [{ text: ': ' }, nameOf(rule, 'rule')]
    case 'rule.cleared':
      return [{ text: ': ' }, nameOf(rule, 'rule'), { text: ' ended' }, ...formatAfter(seconds)]
    case 'alarm.reported':
      return [...alarmParts(alarm), ...(late ? [{ text: ', which arrived late' }] : [])]
  }
}

function alarmParts(alarm: string): readonly SentencePart[] {
  if (isSos(alarm)) return [{ text: ' sent an SOS' }]
  return [{ text: ' reported an alarm: ' }, { text: alarmWords(alarm), names: 'alarm' }]
}

/** Whether a person asks for help. */
export function isSos(alarm: string): boolean {
  return alarm.toLowerCase() === 'sos'
}

/** `powerCut` is "power cut"; other spellings are left unchanged. */
function alarmWords(alarm: string): string {
  if (!/^[a-z]+(?:[A-Z][a-z]+)+$/.test(alarm)) return alarm
  return alarm.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function nameOf(
  thing: { readonly name: string } | undefined,
  names: 'geofence' | 'rule',
): SentencePart {
  return { text: thing?.name ?? `a ${names}`, names }
}

function formatAfter(seconds: number | null | undefined): readonly SentencePart[] {
  return typeof seconds === 'number' ? [{ text: ` after ${durationText(seconds)}` }] : []
}
