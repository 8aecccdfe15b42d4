import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const START = 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())'

/** Requests per call, plus some generated from its edge cases alone. */
const EXAMPLES = process.env['SCHEMATHESIS_EXAMPLES'] ?? '100'

/**
 * Runs Schemathesis against the document served by an API. Returns its output, which lists each
 * failure with a curl command and the seed. `secret` is sent according to the document's security
 * scheme.
 */
export async function runSchemathesis(
  url: string,
  {
    folder,
    secret,
    headers = {},
    leaveOut = [],
  }: {
    /** The installation folder. */
    folder: string
    secret: { readonly scheme: string; readonly kind: 'bearer' | 'api_key'; readonly value: string }
    headers?: Readonly<Record<string, string>>
    /** operationIds that are not called. */
    leaveOut?: readonly string[]
  },
): Promise<{ code: number | null; output: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'gps-schemathesis-'))
  const config = join(directory, 'schemathesis.toml')
  const settings = await readFile(new URL('./schemathesis.toml', import.meta.url), 'utf8')
  // Passed through the environment: every user of a machine can see process arguments.
  const auth = `[auth.openapi.${secret.scheme}]\n${secret.kind} = "\${GPS_SECRET}"\n`
  await writeFile(config, `${settings}\n${auth}`)
  try {
    return await run(
      [
        ...['-c', START, '--config-file', config, 'run', `${url}/openapi.json`],
        ...['--max-examples', EXAMPLES, '--continue-on-failure', '--suppress-health-check', 'all'],
        ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
        ...leaveOut.flatMap((operationId) => ['--exclude-operation-id', operationId]),
      ],
      {
        cwd: directory,
        env: { ...process.env, PYTHONPATH: folder, GPS_SECRET: secret.value, NO_COLOR: '1' },
      },
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function run(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; output: string }> {
  const child = spawn('python3', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, output }))
  })
}
