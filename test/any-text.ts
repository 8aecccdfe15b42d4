import fc from 'fast-check'

/**
 * Any well-formed text, including names of built-in JavaScript properties. (fast-check's own
 * 'binary' texts build a table of a million characters in each suite that uses them: 2 s.)
 */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}) {
  return fc.oneof(fc.string(constraints), fc.string({ ...constraints, unit: anyCharacter }))
}

const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0x00, max: 0xff }),
    fc.integer({ min: 0x100, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/** Any text that names a device in an event. */
export const anyIdentifier: fc.Arbitrary<string> = anyText({ minLength: 1, maxLength: 60 }).filter(
  (text) => !/\p{Cc}/u.test(text),
)
