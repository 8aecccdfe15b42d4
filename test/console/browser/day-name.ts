import { dayText } from '../../../console/core/date-words.ts'

/** A day as the tested pages show it: `Mon 20 Jul`. */
export function dayName(day: string): string {
  return dayText(day, new Date().toISOString(), 'en-GB')
}
