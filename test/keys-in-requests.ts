import type { JsonSchema } from '../runtime/openapi/json-schema.ts'

export type KeyedRequest = {
  readonly method: string
  readonly path: string
  readonly body?: object
}

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
  }
}

/**
 * Requests for every call of an OpenAPI document, each with `text`, which contains an API key, in
 * one part: a path segment, the name or value of a parameter, or the name or value of a body field.
 */
export function requestsWith(text: string, document: { readonly paths?: object }): KeyedRequest[] {
  const encoded = encodeURIComponent(text)
  return Object.entries(document.paths ?? {}).flatMap(([template, operations]) =>
    Object.entries(operations as Record<string, Operation>).flatMap(([name, operation]) => {
      const method = name.toUpperCase()
      const path = template.replaceAll(/\{\w+\}/g, 'x')
      const queries = (operation.parameters ?? []).filter((one) => one.in === 'query')
      const content = Object.values(operation.requestBody?.content ?? {})
      const fields = content.flatMap(({ schema }) => Object.keys(schema['properties'] ?? {}))
      const values = [text, [text], { [text]: text }, { a: text }]
      const bodies = [
        { [text]: 1 },
        { [`x${text}`]: text },
        ...fields.flatMap((field) => values.map((value) => ({ [field]: value }))),
      ]
      return [
        { method, path: template.replaceAll(/\{\w+\}/g, encoded) },
        { method, path: `${path}/${encoded}` },
        { method, path: `${path}?${encoded}=1` },
        { method, path: `${path}?x=${encoded}` },
        ...queries.map((one) => ({ method, path: `${path}?${one.name}=${encoded}` })),
        ...(content.length === 0 ? [] : bodies.map((body) => ({ method, path, body }))),
      ]
    }),
  )
}

/** Texts with an API key: alone, among other text, and where a text is truncated. */
export function textsWith(key: string): string[] {
  return [key, `a ${key} b`, `${'x'.repeat(40)}${key}`]
}

/** One of `of` shares of a list: together the shares are the whole list. */
export function share<Item>(items: readonly Item[], at: number, of: number): Item[] {
  return items.filter((_, index) => index % of === at)
}
