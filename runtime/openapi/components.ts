import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from './json-schema.ts'

/**
 * Replaces every schema that has a `title` by a reference, and collects the schemas under their
 * titles.
 */
export class SchemaComponents {
  readonly #schemas = new Map<string, JsonSchema>()

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** @throws {Error} if two different schemas share a title: a mistake in the route table. */
  extract(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((item) => this.extract(item))
    if (typeof part !== 'object' || part === null) return part
    const { title, ...rest } = part as JsonSchema
    const extracted = Object.fromEntries(
      Object.entries(rest).map(([keyword, value]) => [keyword, this.extract(value)]),
    )
    if (title === undefined) return extracted
    // The keyword `title` is a string; a field called `title` is described by an object.
    if (typeof title !== 'string') return { title: this.extract(title), ...extracted }
    const known = this.#schemas.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, extracted)) {
      throw new Error(`two different schemas have the title ${title}`)
    }
    this.#schemas.set(title, extracted)
    return { $ref: `#/components/schemas/${title}` }
  }
}
