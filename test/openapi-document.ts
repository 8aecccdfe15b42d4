import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { Router } from '@koa/router'
import { templatePath, type OpenApiDocument } from '../runtime/openapi/document.ts'

/** The calls that an app's router serves, in the document's notation, without the page's files. */
export function callsServedBy(app: { readonly middleware: readonly object[] }): string[] {
  const routers = app.middleware.flatMap(
    (middleware) => (middleware as { readonly router?: Router }).router ?? [],
  )
  return routers
    .flatMap(({ stack }) => stack)
    .flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${templatePath(String(path))}`),
    )
    .filter((call) => !/^HEAD | \/docs\//.test(call))
    .sort()
}

/** The calls in a document. */
export function callsToldBy(document: OpenApiDocument): string[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .sort()
}

/** Optional properties with a fixed value, for which generators write faulty code. */
export function optionalConstantsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const {
    type,
    properties,
    required = [],
  } = schema as {
    readonly type?: unknown
    readonly properties?: Readonly<Record<string, object>>
    readonly required?: readonly string[]
  }
  // A GeoJSON feature has a property called properties.
  const own = Object.entries((type === 'object' && properties) || {}).flatMap(
    ([name, property]) => {
      const isFixed = 'const' in property || ('enum' in property && isBoolean(property))
      return isFixed && !required.includes(name) ? [name] : []
    },
  )
  return [...own, ...Object.values(schema).flatMap(optionalConstantsIn)]
}

function isBoolean({ enum: values }: { readonly enum?: unknown }): boolean {
  return Array.isArray(values) && values.some((value) => typeof value === 'boolean')
}

/** The problems that Redocly's recommended rules find in a document. */
export async function problemsOf(document: OpenApiDocument): Promise<string[]> {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await createConfig({
      extends: ['recommended'],
      // /geofences/{id}/devices is only read, /geofences/by-external-id/{externalId} only written.
      rules: { 'no-ambiguous-paths': 'off' },
    }),
  })
  return problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)
}
