import type { ErrorIdentifier } from '../errors.ts'
import type { JsonSchema } from './json-schema.ts'

/** One call of an HTTP API, for the OpenAPI document. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From the root, parameters as the router writes them: `/api/v1/devices/:deviceId`. */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  /** The body of the request; JSON unless `mediaTypes` says otherwise. */
  readonly body?: {
    readonly required: boolean
    readonly schema: JsonSchema
    readonly mediaTypes?: readonly string[]
  }
  readonly answer: {
    readonly status: number
    readonly description: string
    readonly content: { readonly [mediaType: string]: JsonSchema }
  }
  /** Errors in addition to those of every call. */
  readonly errors: readonly ErrorIdentifier[]
  /** Security schemes, one of which is required; none: open to everybody. */
  readonly security: readonly string[]
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

/** A path as OpenAPI writes it: `/api/v1/devices/{deviceId}`. */
export function templated(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** The names of a path's parameters. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}
