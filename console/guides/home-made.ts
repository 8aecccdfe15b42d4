import {
  sampleTime,
  json,
  SAMPLE,
  SUBMIT,
  type Guide,
  type SamplePlace,
  type Setup,
  shell,
} from './guide.ts'

const ANSWER = 'The response says what is wrong: `message` names the faulty field, or the key.'
const REACH =
  'No response at all: the address cannot be reached from there, or a firewall is in between.'
const AGAIN = 'After a time-out or a 503, send the same report again: it is stored once.'

export const CURL: Guide = {
  id: 'curl',
  name: 'curl',
  about: 'One report from a terminal: the quickest way to check address and key.',
  steps: (setup) => [
    {
      text: 'Paste this into a terminal (bash, zsh, Git Bash). It sends one report.',
      entries: [{ title: 'Command', text: curl(setup) }],
    },
    {
      text: 'Or paste this into PowerShell, which quotes differently.',
      entries: [{ title: 'PowerShell', text: powerShell(setup) }],
    },
  ],
  troubles: [ANSWER, REACH],
  example: submit,
}

export const PYTHON: Guide = {
  id: 'python',
  name: 'Python',
  about: 'A program in Python 3, with nothing to install.',
  steps: (setup) => [
    {
      text: 'Save it as `report.py` and run it with `python3 report.py`.',
      entries: [{ title: 'report.py', text: python(setup) }],
    },
  ],
  troubles: [ANSWER, AGAIN, REACH],
  example: submit,
}

export const NODE: Guide = {
  id: 'node',
  name: 'Node',
  about:
    'A program in JavaScript for Node 18 or later, with nothing to install. The package in `client/` retries and keeps reports while offline.',
  steps: (setup) => [
    {
      text: 'Save it as `report.mjs` and run it with `node report.mjs`.',
      entries: [{ title: 'report.mjs', text: node(setup) }],
    },
  ],
  troubles: [ANSWER, AGAIN, REACH],
  example: submit,
}

export function submit(
  { address, key, deviceId }: Setup,
  { latitude, longitude, time }: SamplePlace,
) {
  return {
    url: address + SUBMIT,
    ...json(
      { deviceId, latitude, longitude, timestamp: sampleTime(time) },
      { Authorization: `Bearer ${key}` },
    ),
  }
}

/**
 * A string literal valid in JavaScript, Python and C++: they read JSON's escapes in the same way.
 */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
}

function curl({ address, key, deviceId }: Setup): string {
  const body = JSON.stringify({ deviceId, ...SAMPLE })
  return [
    `curl ${shell(address + SUBMIT)} \\`,
    `  -H ${shell(`Authorization: Bearer ${key}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shell(body)}`,
  ].join('\n')
}

/** A quote inside single quotes is doubled. Both versions of PowerShell have this command. */
function powerShell({ address, key, deviceId }: Setup): string {
  const quoteForPowerShell = (text: string) => `'${text.replaceAll("'", "''")}'`
  return [
    `Invoke-RestMethod ${quoteForPowerShell(address + SUBMIT)} -Method Post \``,
    `  -Headers @{ Authorization = ${quoteForPowerShell(`Bearer ${key}`)} } \``,
    `  -ContentType 'application/json; charset=utf-8' \``,
    `  -Body ${quoteForPowerShell(JSON.stringify({ deviceId, ...SAMPLE }))}`,
  ].join('\n')
}

function node({ address, key, deviceId }: Setup): string {
  return `const response = await fetch(${stringLiteral(address + SUBMIT)}, {
  method: 'POST',
  headers: {
    Authorization: ${stringLiteral(`Bearer ${key}`)},
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    deviceId: ${stringLiteral(deviceId)},
    latitude: ${SAMPLE.latitude},
    longitude: ${SAMPLE.longitude},
    timestamp: new Date().toISOString(),
  }),
})
console.log(response.status, await response.text())
`
}

function python({ address, key, deviceId }: Setup): string {
  return `import json
import urllib.error
import urllib.request
from datetime import datetime, timezone

report = {
    "deviceId": ${stringLiteral(deviceId)},
    "latitude": ${SAMPLE.latitude},
    "longitude": ${SAMPLE.longitude},
    "timestamp": datetime.now(timezone.utc).isoformat(),
}
request = urllib.request.Request(
    ${stringLiteral(address + SUBMIT)},
    data=json.dumps(report).encode(),
    headers={
        "Authorization": ${stringLiteral(`Bearer ${key}`)},
        "Content-Type": "application/json",
    },
)
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        print(response.status, response.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
`
}

export const HOME_ASSISTANT: Guide = {
  id: 'home-assistant',
  name: 'Home Assistant',
  about:
    'An automation sends each new position of a Home Assistant tracker, such as a phone with its app.',
  steps: (setup) => [
    {
      text: 'Add this to `configuration.yaml`, check the configuration, and restart Home Assistant.',
      entries: [{ title: 'configuration.yaml', text: restCommand(setup) }],
    },
    {
      text: 'Create an automation, open its menu, choose Edit in YAML, and paste this. Replace `device_tracker.my_phone` with the tracker that you want to follow.',
      entries: [{ title: 'Automation', text: AUTOMATION }],
    },
    {
      text: 'For another device, add a second `rest_command` with another device id, and an automation that calls it.',
    },
  ],
  troubles: [
    'The automation’s page has its traces: the last one shows what was sent. Without a `latitude` the tracker knows only home and away, as routers do.',
    'Settings → System → Logs shows responses other than 2xx of `rest_command.report_position`.',
    'Home Assistant does not retry a failed report. The OwnTracks app on the phone does, and can report here as well as to Home Assistant.',
  ],
  example: submit,
}

/** The command's strings are Jinja literals, which use the same escapes as JSON. */
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
      "accuracy": accuracy, "battery": battery, "timestamp": timestamp} | tojson }}
`
}

const AUTOMATION = `alias: Report the position of my phone
mode: queued
max: 1000
triggers:
  - trigger: state
    entity_id: device_tracker.my_phone
conditions: "{{ trigger.to_state.attributes.latitude is defined }}"
actions:
  - action: rest_command.report_position
    data:
      latitude: "{{ trigger.to_state.attributes.latitude }}"
      longitude: "{{ trigger.to_state.attributes.longitude }}"
      accuracy: "{{ trigger.to_state.attributes.gps_accuracy | default(none) }}"
      battery: >-
        {{ trigger.to_state.attributes.battery_level / 100
        if trigger.to_state.attributes.battery_level is number else none }}
      timestamp: "{{ trigger.to_state.last_updated.isoformat() }}"
`
