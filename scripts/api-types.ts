import { writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import { adminRoutes, PREFIX, type AdminDependencies } from '../admin-api/app.ts'
import { adminDocument } from '../admin-api/openapi.ts'

/**
 * Writes console/api/schema.ts: the types of the admin API's input and responses, which the console
 * is checked against. Git ignores the file; `npm run check` regenerates it each time.
 */
const unopened = { stopping: new AbortController().signal } as AdminDependencies

const document = adminDocument(adminRoutes(unopened), { prefix: PREFIX })
const types = await openapiTS(JSON.stringify(dropErrors(document)), { alphabetize: true })
const text = `// Made by \`npm run check\` from the admin API's OpenAPI document.\n${astToString(types)}`
writeFileSync('console/api/schema.ts', text)

/** Every error has the same envelope, and response headers are not read. */
function dropErrors(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(dropErrors)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part)
      .filter(([name]) => !(name === 'headers' && 'content' in part) && !/^[45]\d\d$/.test(name))
      .filter(([name]) => !name.startsWith('/') || name.startsWith(PREFIX))
      .map(([name, value]) => [name, dropErrors(value)]),
  )
}
