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
 * Requests for every call of an OpenAPI document, each with `text`, which holds an API key, in one place: a
 * segment of the path, the name or value of a parameter, the name or value of a field of the body.
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

/** Texts that hold an API key: alone, among others, and where the beginning of a text is cut off. */
export function textsWith(key: string): string[] {
  return [key, `a ${key} b`, `${'x'.repeat(40)}${key}`]
}
