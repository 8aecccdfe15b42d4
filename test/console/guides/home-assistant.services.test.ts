import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { HOME_ASSISTANT } from '../../../console/guides/home-made.ts'
import { describeWith } from '../../services/describe-with.ts'
import { KEY_SHAPED, ODD_ID } from './every-guide.ts'

const setup = { address: 'https://gps.example', key: KEY_SHAPED, deviceId: ODD_ID }
const STATE = {
  attributes: { latitude: 52.5, longitude: -13.25, gps_accuracy: 12, battery_level: 57 },
  last_updated: '2026-11-22T14:05:55.123456+00:00',
}

await describeWith(['jinja'], 'the guide of Home Assistant', ({ jinja }) => {
  /** Like Home Assistant's rendering: results that are Python literals become values. */
  function render(template: string, values: object): unknown {
    const program = `import ast, datetime, json, sys
from types import SimpleNamespace
from jinja2.nativetypes import NativeEnvironment
template, values = json.load(sys.stdin)
if "trigger" in values:
    state = values["trigger"]["to_state"]
    state["last_updated"] = datetime.datetime.fromisoformat(state["last_updated"])
print(json.dumps(NativeEnvironment().from_string(template).render(values)))`
    const env = { ...process.env, PYTHONPATH: jinja.pythonPath }
    const input = JSON.stringify([template, values])
    return JSON.parse(execFileSync('python3', ['-c', program], { input, env, encoding: 'utf8' }))
  }

  test('the automation passes the rest_command a tracker’s state as a report', () => {
    const [command = '', automation = ''] = HOME_ASSISTANT.steps(setup)
      .flatMap(({ entries = [] }) => entries)
      .map(({ text }) => text)
    const { rest_command } = parse(command) as { rest_command: Record<string, RestCommand> }
    const { conditions, actions, mode, max } = parse(automation) as Automation
    expect([mode, max]).toEqual(['queued', 1_000])
    const [{ action, data }] = actions
    const called = rest_command[action.replace('rest_command.', '')]
    expect(called).toMatchObject({
      url: 'https://gps.example/api/v1/gps/submit',
      method: 'post',
      headers: { Authorization: `Bearer ${KEY_SHAPED}` },
      content_type: 'application/json',
    })

    const trigger = { to_state: STATE }
    expect(render(conditions, { trigger })).toBe(true)
    expect(render(conditions, { trigger: { to_state: { ...STATE, attributes: {} } } })).toBe(false)
    const reportOf = (state: object) => {
      const values = Object.entries(data).map(([name, text]) => {
        return [name, render(text, { trigger: { to_state: state } })]
      })
      const sent = render(called?.payload ?? '', Object.fromEntries(values) as object)
      return (typeof sent === 'string' ? JSON.parse(sent) : sent) as object
    }
    const report = {
      deviceId: ODD_ID,
      latitude: 52.5,
      longitude: -13.25,
      accuracy: 12,
      battery: 0.57,
      timestamp: STATE.last_updated,
    }
    expect(reportOf(STATE)).toEqual(report)
    // `null` counts as absent.
    const vague = { ...STATE.attributes, gps_accuracy: undefined }
    expect(reportOf({ ...STATE, attributes: vague })).toEqual({ ...report, accuracy: null })
    for (const battery_level of [undefined, null, 'unknown']) {
      const attributes = { ...STATE.attributes, battery_level }
      expect(reportOf({ ...STATE, attributes })).toEqual({ ...report, battery: null })
    }
  })
})

type RestCommand = { readonly url: string; readonly payload: string }

type Automation = {
  readonly mode: string
  readonly max: number
  readonly conditions: string
  readonly actions: readonly [{ readonly action: string; readonly data: Record<string, string> }]
}
