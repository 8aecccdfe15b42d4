import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { docker } from './docker.ts'

/** The services of `docker-compose.yml`, with their own name, images and environment. */
export type ComposeProject = {
  /**
   * Runs `docker compose ARGUMENT…`; resolves with its standard output, rejects with its error
   * output.
   */
  compose(...args: readonly string[]): Promise<string>
  /** Builds the image, starts everything and resolves once all are healthy. */
  up(): Promise<void>
  /** Runs JavaScript in a service's container, where the other services resolve by name. */
  evaluate(service: string, script: string): Promise<string>
  /** All containers, running or ended. */
  containers(): Promise<Container[]>
  /** Removes the containers, their volumes and the image. */
  remove(): Promise<void>
}

/** A container in the output of `docker compose ps`. */
export type Container = {
  readonly Service: string
  readonly ExitCode: number
  /** A port that is not published has the PublishedPort 0. */
  readonly Publishers: readonly { URL: string; TargetPort: number; PublishedPort: number }[]
}

/**
 * @param folder receives the environment file.
 * @param variables the content of `.env`; nothing else reaches `docker-compose.yml`.
 */
export async function composeProject(
  folder: string,
  variables: Record<string, string>,
): Promise<ComposeProject> {
  const name = `gps-test-${randomBytes(4).toString('hex')}`
  const envFile = join(folder, `${name}.env`)
  const lines = Object.entries({ GPS_IMAGE: name, ...variables }).map(([key, value]) => {
    return `${key}='${value}'\n`
  })
  await writeFile(envFile, lines.join(''), { mode: 0o600 })

  const compose = (...args: readonly string[]) =>
    docker('compose', '--project-name', name, '--env-file', envFile, '--progress', 'quiet', ...args)

  return {
    compose,

    async up() {
      try {
        await compose('up', '--build', '--detach', '--wait', '--wait-timeout', '240')
      } catch (cause) {
        const logs = await compose('logs', '--no-color', '--tail', '40')
        throw new Error(`not everything became healthy:\n${logs}`, { cause })
      }
    },

    async evaluate(service, script) {
      const output = await compose(
        'exec',
        '-T',
        service,
        'node',
        '--input-type=module',
        '-e',
        script,
      )
      return output.trim()
    },

    async containers() {
      const lines = (await compose('ps', '--all', '--format', 'json')).trim().split('\n')
      return lines.map((line) => JSON.parse(line) as Container)
    },

    async remove() {
      await compose('down', '--volumes', '--remove-orphans', '--timeout', '5')
      await docker('image', 'rm', '--force', name)
    },
  }
}
