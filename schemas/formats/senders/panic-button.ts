import { alarmNames } from '../../report/alarm-names.ts'
import { isTruthyText } from '../typed-attributes.ts'
import { parseText } from '../values.ts'
import type { AttributeValue } from '../../report/report-fields.ts'
import type { SentAttributes } from '../sent-attributes.ts'

type Fields = Readonly<Record<string, unknown>>

/** Dragino's `ALARM_status`, Abeeway's `sosFlag`, and other names of a pressed panic button. */
const BUTTON =
  /^(?:alarm(?:_?status)?|(?:sos|panic)(?:_?(?:alarm|button|flag|mode|pressed|status))?)$/i
/** One level down, other readings may also have an `alarm`. */
const INNER_BUTTON = /^(?:sos|panic)(?:_?(?:alarm|button|flag|mode|pressed|status))?$/i
/** Abeeway's events and notifications. */
const EVENTS = ['eventType', 'notificationType']
const STARTED = /^SOS(?:_MODE)?_(?:START|ON)$/

/** Whether a decoded payload reports a pressed panic button, at its top level or one below. */
export function isPanic(fields: Fields, inner: readonly Fields[]): boolean {
  return isPressed(fields, BUTTON) || inner.some((one) => isPressed(one, INNER_BUTTON))
}

function isPressed(fields: Fields, button: RegExp): boolean {
  return (
    Object.keys(fields).some((name) => button.test(name) && isTruthyText(fields[name])) ||
    EVENTS.some((name) => STARTED.test(parseText(fields[name]) ?? ''))
  )
}

/** The attributes with the alarm `sos`, in addition to an existing alarm. */
export function addSos(attributes: SentAttributes): SentAttributes {
  const alarm = attributes['alarm'] as AttributeValue | undefined
  const names = alarmNames(isTruthyText(alarm) ? undefined : alarm)
  if (names.has('sos')) return attributes
  const list = ['sos', ...names.values()].join(',')
  return { ...attributes, alarm: list.length > LONGEST ? 'sos' : list }
}

const LONGEST = 256
