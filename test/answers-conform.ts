import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../runtime/openapi/document.ts'

/** A request and its response, as a test harness records them. */
export type SeenAnswer = {
  readonly method: string
  /** The request target as sent, with its query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Header = { readonly required?: boolean; readonly schema: object }
type Response = {
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}
type Described = { readonly responses: Readonly<Record<string, object>> }

/**
 * Throws if a response differs from what the document says for its request: in status, headers,
 * media type or body.
 */
export function answersConformTo(document: OpenApiDocument): (answer: SeenAnswer) => void {
  const ajv = new Ajv2020({
    strict: false,
    // Tests of the documents check that they are schemas.
    validateSchema: false,
    allErrors: true,
    formats: { 'date-time': isoTime },
  })
  ajv.addSchema({ ...document, $id: 'document' })
  const compiled = new WeakMap<object, ValidateFunction>()
  const paths = Object.entries(document.paths).map(([template, operations]) => ({
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    operations: operations as Readonly<Record<string, Described>>,
  }))

  /** Resolves a reference to the part of the document that it names. */
  function resolve<T>(part: object): T {
    const { $ref } = part as { readonly $ref?: string }
    if ($ref === undefined) return part as T
    const keys = $ref.split('/').slice(1)
    return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T
  }

  function faultsOf(schema: object, value: unknown): string {
    const validate = compiled.get(schema) ?? ajv.compile(absolute(schema) as object)
    compiled.set(schema, validate)
    return validate(value) ? '' : ajv.errorsText(validate.errors, { separator: '\n  ' })
  }

  function responseOf({ method, path, status }: SeenAnswer): Response | undefined {
    const asked = path.split('?')[0] ?? ''
    const matching = paths.filter(({ pattern }) => pattern.test(asked))
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = matching.map(({ operations }) => operations[verb]).find(Boolean)
    const unmatched = document['x-unmatched'] as Readonly<Record<string, object>>
    const refused = matching.length === 0 ? 404 : 405
    const found =
      operation === undefined
        ? status === refused && unmatched[status]
        : operation.responses[status]
    return found ? resolve<Response>(found) : undefined
  }

  return function conforms(answer) {
    const { method, path, status, headers, text } = answer
    const fail = (what: string) => {
      throw new Error(
        `${method} ${path} answered ${status}, not as documented: ${what}\n${text.slice(0, 2000)}`,
      )
    }
    const response = responseOf(answer)
    if (response === undefined) return fail('the status')
    for (const [name, part] of Object.entries(response.headers ?? {})) {
      const { required = false, schema } = resolve<Header>(part)
      const value = headers.get(name)
      if (value === null) {
        if (required) fail(`without ${name}`)
      } else if (faultsOf(schema, value) !== '') fail(`${name}: ${value}`)
    }
    const mediaType = (headers.get('content-type') ?? '').split(';')[0] ?? ''
    const content = response.content?.[mediaType]
    if (content === undefined) return fail(`Content-Type ${mediaType}`)
    if (method === 'HEAD') return
    const faults = faultsOf(content.schema, /[/+]json$/.test(mediaType) ? JSON.parse(text) : text)
    if (faults !== '') fail(faults)
  }
}

/** Each schema is compiled separately, so that its references resolve within the document. */
function absolute(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(absolute)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]: [string, unknown]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `document${value}` : absolute(value),
    ]),
  )
}

/** Every time has the same format. */
function isoTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text))
}
