import { sentence, type FieldFault } from './failure.ts'

/**
 * A form's message at a field: a sentence of the page as it is, the API's with the field's label in
 * place of its name, or what to do where nothing was entered.
 */
export function faultText({ field, message }: FieldFault, label: string, isEmpty: boolean): string {
  if (/^[A-Z]/.test(message)) return message
  if (isEmpty) return `Enter ${articleOf(label)} ${inSentence(label)}.`
  const isAboutField = message.startsWith(`${field} `)
  return sentence(isAboutField ? label + message.slice(field.length) : message)
}

function articleOf(label: string): string {
  return /^[aeio]/i.test(label) ? 'an' : 'a'
}

/** Abbreviations keep their capitals. */
function inSentence(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1)
}
