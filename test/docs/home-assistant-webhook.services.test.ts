import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { describeWith } from '../services/describe-with.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const [, automation = ''] = /```yaml\n([^]*?)```/.exec(page) ?? []

type Publish = { readonly topic: string; readonly payload: string; readonly retain: boolean }

await describeWith(['jinja'], 'the automation of Home Assistant', ({ jinja }) => {
  /** As Home Assistant renders a template to text, with the filters that it adds. */
  function render(template: string, values: object): string {
    const program = `import json, re, sys
from jinja2 import Environment
template, values = json.load(sys.stdin)
env = Environment()
env.filters["to_json"] = json.dumps
env.filters["slugify"] = lambda text: re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
print(env.from_string(template).render(values), end="")`
    const env = { ...process.env, PYTHONPATH: jinja.pythonPath }
    const input = JSON.stringify([template, values])
    return execFileSync('python3', ['-c', program], { input, env, encoding: 'utf8' })
  }

  const { conditions, actions } = parse(automation) as {
    readonly conditions: string
    readonly actions: readonly {
      readonly variables?: { device: string }
      readonly data?: Publish
    }[]
  }
  /** The messages it publishes for a body, by topic. */
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

  test('a position announces a device tracker and sets where it is, so Home Assistant knows the zone', () => {
    const data = { deviceId: 'Van 7', latitude: 52.5, longitude: -13.25, accuracy: 12 }
    const body = { type: 'position', data }
    expect(render(conditions, { trigger: { json: body } })).toBe('True')
    expect(published(body)).toEqual({
      'homeassistant/device_tracker/gps_van_7/config': {
        name: 'Van 7',
        unique_id: 'gps_van_7',
        source_type: 'gps',
        json_attributes_topic: 'gps/van_7/attributes',
      },
      'gps/van_7/attributes': { latitude: 52.5, longitude: -13.25, gps_accuracy: 12 },
    })
  })

  test('a position without accuracy is one of 0 m, and a test is ignored', () => {
    const data = { deviceId: 'tug', latitude: 1, longitude: 2 }
    expect(published({ type: 'position', data })['gps/tug/attributes']).toEqual({
      latitude: 1,
      longitude: 2,
      gps_accuracy: 0,
    })
    const trigger = { json: { type: 'test', data: { text: 'x' } } }
    expect(render(conditions, { trigger })).toBe('False')
  })
})
