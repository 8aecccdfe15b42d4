/** Ways in which a secret gets into a text by mistake, by name. */
export const HIDDEN: readonly (readonly [name: string, hide: (key: string) => string])[] = [
  ['as it is', (key) => key],
  ['in a sentence', (key) => `my key is ${key}, thanks`],
  ['percent-encoded', (key) => key.replace('_', '%5F')],
  ['percent-encoded in lower case', (key) => key.replace('_', '%5f')],
  ['percent-encoded in a nested URL', (key) => key.replace('_', '%255F')],
  ['percent-encoded throughout', (key) => everyCharacter(key, (hex) => `%${hex}`)],
  ['in a query', (key) => `https://gps.example/?key=${key.replace('g', '%67')}&id=7`],
  ['behind escapes of JSON', (key) => everyCharacter(key, (hex) => `\\u00${hex}`)],
  ['behind escapes of JavaScript', (key) => key.replace('_', '\\x5f')],
  ['behind an escape of Markdown', (key) => key.replace('_', '\\_')],
  ['in JSON in a query', (key) => encodeURIComponent(`{"key":"${key.replace('_', '\\u005f')}"}`)],
  ['behind a decimal reference of HTML', (key) => key.replace('_', '&#95;')],
  ['behind a hexadecimal reference of HTML', (key) => key.replace('_', '&#x5F;')],
  ['behind a named reference of HTML', (key) => key.replace('_', '&lowbar;')],
  ['broken after the underscore', (key) => key.replace('_', '_ ')],
  ['as a password of Basic authentication', (key) => `Basic ${btoa(`phone:${key}`)}`],
  ['in Base64', (key) => btoa(key)],
  ['in Base64 of URLs behind a path', (key) => `x/${Buffer.from(key).toString('base64url')}`],
]

function everyCharacter(text: string, escape: (hex: string) => string): string {
  return [...text].map((character) => escape(character.charCodeAt(0).toString(16))).join('')
}
