import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { Router } from '@koa/router'
import { templated, type OpenApiDocument } from '../runtime/openapi/document.ts'

/** The calls that an app's router serves, as the document writes them; the page's files are none. */
export function callsServedBy(app: { readonly middleware: readonly object[] }): string[] {
  const routers = app.middleware.flatMap(
    (middleware) => (middleware as { readonly router?: Router }).router ?? [],
  )
  return routers
    .flatMap(({ stack }) => stack)
    .flatMap(({ methods, path }) => methods.map((method) => `${method} ${templated(String(path))}`))
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

/** The faults that Redocly's recommended rules find in a document. */
export async function problemsOf(document: OpenApiDocument): Promise<string[]> {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  })
  return problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)
}
