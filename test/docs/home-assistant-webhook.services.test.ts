import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { describeWith } from '../services/describe-with.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const [, automation = ''] = /```yaml\n([^]*?)```/.exec(page) ?? []

const deviceOf = (id: string) =>
  `${id.toLowerCase().replace(' ', '_')}_${createHash('md5').update(id).digest('hex').slice(0, 8)}`

type Publish = { readonly topic: string; readonly payload: string; readonly retain: boolean }

await describeWith(['jinja'], 'the automation of Home Assistant', ({ jinja }) => {
  /** Renders a template to text as Home Assistant does, with its additional filters. */
  function render(template: string, values: object): string {
    const program = `import hashlib, json, re, sys
from jinja2 import Environment
template, values = json.load(sys.stdin)
env = Environment()
env.filters["to_json"] = json.dumps
env.filters["md5"] = lambda text: hashlib.md5(text.encode()).hexdigest()
env.filters["slugify"] = lambda text: re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
print(env.from_string(template).render(values), end="")`
    const env = { ...process.env, PYTHONPATH: jinja.pythonPath }
    const input = JSON.stringify([template, values])
    return execFileSync('python3', ['-c', program], { input, env, encoding: 'utf8' })
  }

  const { conditions, actions, mode, max } = parse(automation) as {
    readonly mode: string
    readonly max: number
    readonly conditions: string
    readonly actions: readonly {
      readonly variables?: { device: string }
      readonly data?: Publish
    }[]
  }
  /** The messages published for a body, by topic. */
  function published(json: object): Record<string, unknown> {
    const trigger = { json }
    const device = render(actions[0]!.variables!.device, { trigger })
    return Object.fromEntries(
      actions.slice(1).map(({ data }) => {
        const { topic, payload, retain } = data!
        expect(retain).toBe(true)
        const values = { trigger, device }
        return [render(topic, values), JSON.parse(render(payload, values))]
      }),
    )
  }

  test('a position announces a device tracker and sets its coordinates, so Home Assistant knows the zone', () => {
    const data = {
      deviceId: 'Van 7',
      latitude: 52.5,
      longitude: -13.25,
      accuracy: 12,
      battery: 0.57,
    }
    const van = deviceOf('Van 7')
    const body = { type: 'position', data }
    expect(render(conditions, { trigger: { json: body } })).toBe('True')
    expect(published(body)).toEqual({
      [`homeassistant/device_tracker/gps_${van}/config`]: {
        name: 'Van 7',
        unique_id: `gps_${van}`,
        source_type: 'gps',
        default_entity_id: `device_tracker.${van}`,
        json_attributes_topic: `gps/${van}/attributes`,
      },
      [`gps/${van}/attributes`]: {
        latitude: 52.5,
        longitude: -13.25,
        gps_accuracy: 12,
        battery_level: 57,
      },
    })
  })

  test('devices whose ids differ in symbols or case are different trackers', () => {
    const ids = ['van-1', 'van 1', 'Van_1', '车', '車']
    const topics = ids.map((deviceId) =>
      Object.keys(published({ type: 'position', data: { deviceId, latitude: 1, longitude: 2 } })),
    )
    expect(new Set(topics.flat()).size).toBe(2 * ids.length)
    // In the form that MQTT discovery accepts.
    for (const topic of topics.flat()) expect(topic).toMatch(/^[a-zA-Z0-9_/-]+$/)
  })

  test('no position is dropped while ten are waiting', () => {
    expect([mode, max]).toEqual(['queued', 1_000])
  })

  test('a position without accuracy has none, and a test is ignored', () => {
    const data = { deviceId: 'tug', latitude: 1, longitude: 2 }
    expect(published({ type: 'position', data })[`gps/${deviceOf('tug')}/attributes`]).toEqual({
      latitude: 1,
      longitude: 2,
    })
    const trigger = { json: { type: 'test', data: { text: 'x' } } }
    expect(render(conditions, { trigger })).toBe('False')
  })
})
