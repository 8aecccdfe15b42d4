import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { exportData } from '../../embedded/worker/data-gauges.ts'
import { exportSpool } from '../../ingest-api/service.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { startAdmin, type AdminHarness } from '../admin-api/admin-harness.ts'
import { startIngest, type IngestHarness } from '../ingest-api/ingest-harness.ts'
import { groupingLabelsIn, selectorsIn } from './promql.ts'

const read = (name: string) => readFileSync(new URL(`../../ops/${name}`, import.meta.url), 'utf8')

type Panel = {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
}
const alerts = parse(read('alerts.yaml')) as {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly labels: { readonly severity: string }
      readonly annotations: { readonly summary: string; readonly description: string }
    }[]
  }[]
}
const rules = alerts.groups.flatMap((group) => group.rules)
const charts = dashboard.panels.filter(({ type }) => type !== 'row')

const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...charts.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  ),
]

/** The README's tables of metrics: name, kind, labels. */
const told = [...read('README.md').matchAll(/^\| `(\w+)` +\| (\w+) +\| ([\w, ]*)\|/gm)].map(
  ([, name = '', kind = '', labels = '']) => ({
    name,
    kind,
    labels: labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean),
  }),
)

/** Prometheus adds these: whether a scrape succeeded, and its target. */
const OF_PROMETHEUS = { metric: 'up', labels: ['instance', 'job'] }

/** The metrics of every process, of an ingest API with a spool, and of a data directory. */
const registry = createMetrics().registry
exportSpool(registry, () => ({ events: 0, bytes: 0, oldestSeconds: 0 }))
exportData(registry, '.')

/** Every metric that a service serves, by name, with the names of its series. */
const served = new Map<string, string>()
let ingest: IngestHarness
let admin: AdminHarness

beforeAll(async () => {
  ingest = await startIngest()
  admin = await startAdmin()
  const texts = [
    String((await ingest.request('/metrics')).body['text']),
    (await admin.request('GET', '/metrics')).text,
    await registry.metrics(),
  ]
  for (const [, name = '', kind = ''] of texts.join('\n').matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    served.set(name, kind)
  }
})

afterAll(async () => {
  await ingest.close()
  await admin.close()
})

function labelsOf(name: string): readonly string[] {
  const metric = registry.getSingleMetric(name) as unknown as { labelNames: string[] } | undefined
  return metric?.labelNames ?? []
}

function baseOf(metric: string): string {
  const base = metric.replace(/_(bucket|sum|count)$/, '')
  return served.get(base) === 'histogram' ? base : metric
}

test('there are expressions to check', () => {
  expect(rules.length).toBeGreaterThan(8)
  expect(charts.length).toBeGreaterThan(12)
  expect(told.length).toBeGreaterThan(12)
})

describe.each(expressions)('%s: %s', (_, expression) => {
  test('it queries metrics that are served, by labels that they have', () => {
    const selectors = selectorsIn(expression)
    expect(selectors).not.toEqual([])
    const known = new Set([...OF_PROMETHEUS.labels, 'le'])
    for (const { metric, labels } of selectors) {
      if (metric === OF_PROMETHEUS.metric) continue
      const base = baseOf(metric)
      expect([...served.keys()]).toContain(base)
      for (const label of labels) expect(labelsOf(base)).toContain(label)
      for (const label of labelsOf(base)) known.add(label)
    }
    for (const label of groupingLabelsIn(expression)) expect([...known]).toContain(label)
  })

  test('it queries metrics that are documented', () => {
    const names = told.map(({ name }) => name)
    for (const { metric } of selectorsIn(expression)) {
      if (metric !== OF_PROMETHEUS.metric) expect(names).toContain(baseOf(metric))
    }
  })
})

describe('the table of metrics', () => {
  test('documents each served metric with its type', () => {
    for (const { name, kind, labels } of told) {
      expect({ name, kind: served.get(name) }).toEqual({ name, kind })
      expect({ name, labels: labels.sort() }).toEqual({ name, labels: [...labelsOf(name)].sort() })
    }
  })

  test('documents every metric', () => {
    const ours = [...served.keys()].filter((name) => name.startsWith('gps_')).sort()
    expect(ours.length).toBeGreaterThan(10)
    expect(
      told
        .map(({ name }) => name)
        .filter((name) => name.startsWith('gps_'))
        .sort(),
    ).toEqual(ours)
  })
})

/** Counters whose labels have a fixed set of values, with the documented values. */
const ENUMERATED = [
  ['gps_rejections_total', 'outcome', 'kept counted dropped'],
  ['gps_projected_events_total', 'outcome', 'stored seen repeated erased dead_lettered skipped'],
  [
    'gps_stream_events_total',
    'event',
    'position device-status rejection device-erased gap lagging',
  ],
] as const

test.each(ENUMERATED)(
  'every series of %s starts at 0 and is documented',
  async (name, label, values) => {
    const text = await createMetrics().registry.metrics()
    const series = text.split('\n').filter((line) => line.startsWith(`${name}{`))
    const expected = values.split(' ').map((value) => `${name}{${label}="${value}"} 0`)
    expect(series.sort()).toEqual(expected.sort())
    const row = read('README.md')
      .split('\n')
      .find((line) => line.startsWith(`| \`${name}\``))
    for (const value of values.split(' ')) expect(row).toContain(`\`${value}\``)
  },
)

test('every series about app reports starts at 0', async () => {
  const text = String((await ingest.request('/metrics')).body['text'])
  for (const outcome of ['accepted', 'seen', 'INVALID_PARAMS', 'SERVICE_UNAVAILABLE']) {
    for (const app of ['owntracks', 'phonetrack', 'osmand', 'chirpstack']) {
      expect(text).toContain(`\ngps_app_reports_total{app="${app}",outcome="${outcome}"} 0\n`)
    }
  }
})

describe('the dashboard', () => {
  test('the dashboard takes its data source from the variable, everywhere', () => {
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }])
    for (const { datasource } of charts) expect(datasource?.uid).toBe('${datasource}')
  })

  test('the dashboard’s panels have unique ids and do not overlap', () => {
    const taken = new Set<string>()
    for (const { gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x},${y}`)).toBe(false)
          taken.add(`${x},${y}`)
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

test('every alert has a unique name, a severity and advice', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { labels, annotations } of rules) {
    expect(['warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary.length).toBeGreaterThan(10)
    expect(annotations.description.length).toBeGreaterThan(30)
  }
})

test('the recommended configuration scrapes every service, at the port of its Kubernetes manifest', () => {
  const example = parse(
    /```yaml\n(# prometheus.yml[^]*?)```/.exec(read('README.md'))?.[1] ?? '',
  ) as {
    readonly scrape_configs: readonly { static_configs: readonly { targets: string[] }[] }[]
  }
  const targets = example.scrape_configs.flatMap(({ static_configs }) =>
    static_configs.flatMap((one) => one.targets),
  )
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { readonly scripts: Readonly<Record<string, string>> }
  const services = Object.keys(manifest.scripts).flatMap((script) =>
    script.startsWith('start:') ? [script.slice('start:'.length)] : [],
  )
  const served = services.map((service) => {
    const port = /containerPort: (\d+)/.exec(read(`kubernetes/${service}.yaml`))?.[1]
    return `${service}:${port}`
  })
  expect(services).toContain('deliverer')
  expect([...targets].sort()).toEqual(served.sort())
})

test('docs/operations.md says where to look after each alert', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('## When something is wrong')
  const named = [...(section.split('\n## ')[0] ?? '').matchAll(/`(Gps\w+)`/g)].map(
    ([, name]) => name,
  )
  expect(named.sort()).toEqual(rules.map(({ alert }) => alert).sort())
})
