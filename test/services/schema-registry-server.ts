import { join } from 'node:path'
import { containerHost, startContainer } from './containers.ts'
import { freePort, startProcess, type OwnServer, type ServerOptions } from './own-server.ts'
import { APICURIO_VERSION, apicurio } from './programs.ts'

/** Starts a registry with Confluent's API, about 10 s. It stores schemas only in memory. */
export async function startSchemaRegistry(
  options: ServerOptions = {},
): Promise<OwnServer & { url: string }> {
  const port = options.port ?? (await freePort())
  const host = await containerHost()
  if (host !== undefined) {
    const url = address(host, port)
    const server = await startContainer({
      image: `apicurio/apicurio-registry:${APICURIO_VERSION}`,
      port,
      containerPort: 8080,
      answers: () => registryAnswers(url),
    })
    if (server !== undefined) return Object.assign(server, { url })
  }
  const url = address('127.0.0.1', port)
  const folder = await apicurio()
  const server = await startProcess('schema-registry', options, async () => ({
    command: 'java',
    args: [
      ...['-Xmx384m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
      ...[`-Dquarkus.http.port=${port}`, '-Dquarkus.http.host=127.0.0.1'],
      ...['-jar', join(folder, `apicurio-registry-app-${APICURIO_VERSION}-runner.jar`)],
    ],
    answers: () => registryAnswers(url),
  }))
  return Object.assign(server, { url })
}

function address(host: string, port: number): string {
  return `http://${host}:${port}/apis/ccompat/v7`
}

async function registryAnswers(url: string): Promise<void> {
  const response = await fetch(`${url}/subjects`)
  if (!response.ok) throw new Error(`the registry answers ${response.status}`)
}
