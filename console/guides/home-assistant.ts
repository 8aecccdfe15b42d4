import { SUBMIT, type Guide, type Setup } from './guide.ts'
import { stringLiteral, submit } from './home-made.ts'

export const HOME_ASSISTANT: Guide = {
  id: 'home-assistant',
  name: 'Home Assistant',
  about:
    'An automation sends each new position of a tracker of Home Assistant, such as a phone with its app.',
  steps: (setup) => [
    {
      text: 'Add this to `configuration.yaml`, check the configuration, and restart Home Assistant.',
      entries: [{ title: 'configuration.yaml', text: restCommand(setup) }],
    },
    {
      text: 'Create an automation, open its menu, choose Edit in YAML, and paste this. Replace `device_tracker.my_phone` by the tracker that you want to follow.',
      entries: [{ title: 'Automation', text: AUTOMATION }],
    },
    {
      text: 'For another device add a second `rest_command` with another device id, and an automation that calls it.',
    },
  ],
  troubles: [
    'The automation’s page has its traces: the last one shows what was sent. Without a `latitude` the tracker knows only home and away, as routers do.',
    'Settings → System → Logs shows answers other than 2xx of `rest_command.report_position`.',
    'Home Assistant does not repeat a report that failed. The app OwnTracks on the phone does, and can report here beside Home Assistant.',
  ],
  example: submit,
}

/** Its strings are literals of Jinja, which reads JSON's escapes the same way. */
function restCommand({ address, key, deviceId }: Setup): string {
  return `rest_command:
  report_position:
    url: ${stringLiteral(address + SUBMIT)}
    method: post
    headers:
      Authorization: ${stringLiteral(`Bearer ${key}`)}
    content_type: application/json
    payload: >-
      {{ {"deviceId": ${stringLiteral(deviceId)}, "latitude": latitude, "longitude": longitude,
      "accuracy": accuracy, "timestamp": timestamp} | tojson }}
`
}

const AUTOMATION = `alias: Report the position of my phone
mode: queued
triggers:
  - trigger: state
    entity_id: device_tracker.my_phone
conditions: "{{ trigger.to_state.attributes.latitude is defined }}"
actions:
  - action: rest_command.report_position
    data:
      latitude: "{{ trigger.to_state.attributes.latitude }}"
      longitude: "{{ trigger.to_state.attributes.longitude }}"
      accuracy: "{{ trigger.to_state.attributes.gps_accuracy | default(0) }}"
      timestamp: "{{ trigger.to_state.last_updated.isoformat() }}"
`
