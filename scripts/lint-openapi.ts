import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core'
import { adminRoutes, PREFIX, type AdminDependencies } from '../admin-api/app.ts'
import { adminDocument } from '../admin-api/openapi.ts'
import { ingestDocument } from '../ingest-api/openapi.ts'
import { commandLine } from '../runtime/process/command-line.ts'
import type { OpenApiDocument } from '../runtime/openapi/document.ts'

const line = commandLine({
  begin: `Checks the OpenAPI documents of both APIs with Redocly's recommended rules.

  node scripts/run.mjs scripts/lint-openapi
  node scripts/run.mjs scripts/lint-openapi --print ingest-api`,
  options: {
    print: {
      type: 'string',
      value: 'NAME',
      about: 'prints the document of ingest-api or admin-api instead',
    },
  },
  end: 'Every problem is printed with its path in the document; the exit code is then 1.',
})

/** Routes are only listed here, not called, so their dependencies are never used. */
const unopened = { stopping: new AbortController().signal } as AdminDependencies

const documents: Readonly<Record<string, OpenApiDocument>> = {
  'ingest-api': ingestDocument(),
  'admin-api': adminDocument(adminRoutes(unopened), { prefix: PREFIX }),
}

const options = readOptions()
if (options === 'help') process.stdout.write(line.help)
else if (options.print !== undefined) print(options.print)
else await lint()

function readOptions() {
  try {
    return line.parse(process.argv.slice(2), (values) => values)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${line.help}`)
    process.exit(2)
  }
}

function print(name: string): void {
  const document = documents[name]
  if (document === undefined) {
    process.stderr.write(`--print takes ${Object.keys(documents).join(' or ')}\n`)
    process.exit(2)
  }
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
}

async function lint(): Promise<void> {
  const config = await createConfig({
    extends: ['recommended'],
    // /geofences/{id}/devices is only read, /geofences/by-external-id/{externalId} only written.
    rules: { 'no-ambiguous-paths': 'off' },
  })
  let problems = 0
  for (const [name, document] of Object.entries(documents)) {
    const source = JSON.stringify(document, null, 2)
    const faults = await lintFromString({ source, absoluteRef: `${name}/openapi.json`, config })
    for (const problem of faults) process.stderr.write(`${faultText(name, problem)}\n`)
    problems += faults.length
  }
  if (problems === 0) return
  process.stderr.write(`${problems} problems in the OpenAPI documents\n`)
  process.exitCode = 1
}

function faultText(
  name: string,
  { ruleId, message, location: [place] }: NormalizedProblem,
): string {
  return `${name} ${place?.pointer ?? '#'}\n  ${ruleId}: ${message.trim().replaceAll('\n', '\n  ')}`
}
