import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startProcess } from './own-server.ts'
import { dataFolder } from './test-run.ts'

export type Prometheus = {
  /** The names of the alerts that fire now, sorted, each once. */
  firing(): Promise<string[]>
  /** The result of an instant query: the labels and value of each series. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: number }[]>
  kill(): Promise<void>
}

/** Starts a dedicated Prometheus that scrapes `targets` (host:port) every second. */
export async function startPrometheus({
  targets,
  rules,
}: {
  targets: readonly string[]
  /** The text of a file of rules. */
  rules: string
}): Promise<Prometheus> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const dataDir = dataFolder('prometheus')
  const config = join(dataDir, 'prometheus.yml')
  writeFileSync(join(dataDir, 'rules.yaml'), rules)
  writeFileSync(
    config,
    JSON.stringify({
      global: {
        scrape_interval: '1s',
        scrape_timeout: '1s',
        evaluation_interval: '500ms',
      },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: 'gps', static_configs: [{ targets }] }],
    }),
  )
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.status === 200 && path.startsWith('/api') ? await answer.json() : undefined
  }
  const server = await startProcess('prometheus', { dataDir }, async () => ({
    command: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dataDir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    answers: () => ask('/-/ready'),
  }))

  return {
    async firing() {
      const { data } = (await ask('/api/v1/alerts')) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] }
      }
      const firing = data.alerts.filter(({ state }) => state === 'firing')
      return [...new Set(firing.map(({ labels }) => labels.alertname))].sort()
    },
    async query(expression) {
      const { data } = (await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] }
      }
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
    },
    kill: () => server.kill(),
  }
}
