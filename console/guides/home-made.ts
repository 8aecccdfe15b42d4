import {
  sampleTime,
  json,
  SAMPLE,
  SUBMIT,
  type Guide,
  type SamplePlace,
  type Setup,
} from './guide.ts'
import { shell } from './shell.ts'

const ANSWER = 'The answer says what is wrong: `message` names the faulty field, or the key.'
const REACH =
  'No answer at all: the address cannot be reached from there, or a firewall is in between.'
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

/** A string literal of JavaScript, Python and C++ alike: they read JSON's escapes the same way. */
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
