import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '../eventually.ts'
import { endedWithTheTests, type RunningProgram } from '../running-programs.ts'

/** The ports of a proxy and of the APIs behind it. */
export type Ports = { readonly front: number; readonly admin: number; readonly ingest: number }
/** `prefix`: the path of the service, without a slash at its end. */
type Starting = Ports & {
  readonly directory: string
  readonly program: string
  readonly prefix: string
}

/** Starts each proxy with its recipe; only names, ports and certificates differ. */
export const STARTS = { nginx: startNginx, caddy: startCaddy, traefik: startTraefik } as const

async function startNginx({ directory, program, ...ports }: Starting): Promise<void> {
  await serveNginx([nginxSite({ directory, ...ports })], { directory, program })
}

/** Runs nginx with these parts of its `http` block. */
export async function serveNginx(
  parts: readonly string[],
  { directory, program }: { directory: string; program: string },
): Promise<RunningProgram> {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  )
  const main = `daemon off; master_process off; pid ${join(directory, 'nginx.pid')}; error_log stderr crit;
    events {} http { access_log off; ${[...folders, ...parts].join('\n')} }`
  const file = join(directory, 'nginx.conf')
  writeFileSync(file, main)
  return start(program, ['-e', 'stderr', '-c', file], listeningIn(parts))
}

/** The recipe for nginx under this prefix. */
export function nginxSite({
  directory,
  prefix,
  front,
  ...ports
}: Ports & { directory: string; prefix: string }): string {
  const name = prefix.slice(1) || 'root'
  return recipe('nginx.conf', ports)
    .replace(/.* 308 .*\n/, (line) => (prefix === '' ? '' : line))
    .replace(/\tssl_.*\n/g, '')
    .replace('listen 443 ssl', `listen 127.0.0.1:${front}`)
    .replace('server_name fleet.example.org', 'server_name 127.0.0.1')
    .replaceAll('/var/log/nginx/positions', join(directory, name))
    .replace('log_format gps', `log_format ${name}`)
    .replace('.log gps;', `.log ${name};`)
    .replaceAll('^/gps', `^${prefix}`)
    .replaceAll(' /gps', ` ${prefix}`)
    .replaceAll('\t/gps', `\t${prefix}`)
    .replaceAll('gps_', `${name}_`)
}

async function startCaddy(starting: Starting): Promise<void> {
  const { directory, program, front, prefix, ...ports } = starting
  const site = recipe('one-address.Caddyfile', ports)
    .replace('fleet.example.org {', `http://127.0.0.1:${front} {`)
    .replace(/\tredir .*\n.*\n.*\n\t}\n/, (lines) => (prefix === '' ? '\timport gps\n' : lines))
  const file = join(directory, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n}\n${site}`)
  await start(program, ['run', '--config', file, '--adapter', 'caddyfile'], [front], {
    HOME: directory,
  })
}

async function startTraefik({ directory, program, front, ...ports }: Starting): Promise<void> {
  const file = join(directory, 'traefik.yaml')
  const rules = recipe('traefik.yaml', ports)
  writeFileSync(file, rules.replaceAll('fleet.example.org', '127.0.0.1'))
  await start(
    program,
    [
      `--entryPoints.websecure.address=127.0.0.1:${front}`,
      '--entryPoints.websecure.http.encodedCharacters.allowEncodedSlash=true',
      `--providers.file.filename=${file}`,
    ],
    [front],
  )
}

function recipe(name: string, { admin, ingest }: Omit<Ports, 'front'>): string {
  const file = fileURLToPath(new URL(`../../ops/proxy/${name}`, import.meta.url))
  return readFileSync(file, 'utf8')
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${ingest}`)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${admin}`)
}

function listeningIn(parts: readonly string[]): number[] {
  return [...parts.join('\n').matchAll(/listen 127\.0\.0\.1:(\d+)/g)].map(([, port]) =>
    Number(port),
  )
}

/** Starts the program, and waits until it accepts connections; the program ends with the tests. */
async function start(
  program: string,
  args: readonly string[],
  ports: readonly number[],
  env: Record<string, string> = {},
): Promise<RunningProgram> {
  const child = spawn(program, args, {
    env: { PATH: `${process.env['PATH']}:/usr/sbin`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const started = endedWithTheTests(child)
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${started.output()}`)
    return (await Promise.all(ports.map(accepts))).every(Boolean)
  })
  return started
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
