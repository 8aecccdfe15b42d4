/** What a device is set up with. */
export type Setup = {
  /** Of the ingest API, without a path. */
  readonly address: string
  readonly key: string
  readonly deviceId: string
}

/** Something to copy, and what it is. `language` where it is a program. */
export type Snippet = { readonly title: string; readonly text: string }

export type Sender = {
  readonly id: string
  readonly name: string
  /** What to do with the snippets. */
  readonly how: string
  readonly snippets: (setup: Setup) => readonly Snippet[]
}

/** A place for the first report: Vienna. */
export const SAMPLE = { latitude: 48.2082, longitude: 16.3738 } as const

const PATH = '/api/v1/gps/submit'

export const SENDERS: readonly Sender[] = [
  {
    id: 'curl',
    name: 'curl',
    how: 'Paste this into a terminal (bash, zsh, Git Bash). It sends one report.',
    snippets: (setup) => [{ title: 'Command', text: curl(setup) }],
  },
  {
    id: 'gpslogger',
    name: 'GPSLogger',
    how: 'In GPSLogger for Android: Logging details → Log to custom URL. Fill in these four, then start logging.',
    snippets: gpsLogger,
  },
  {
    id: 'node',
    name: 'Node',
    how: 'Save it as report.mjs and run it with node report.mjs (Node 18 or later, nothing to install).',
    snippets: (setup) => [{ title: 'report.mjs', text: node(setup) }],
  },
  {
    id: 'python',
    name: 'Python',
    how: 'Save it as report.py and run it with python3 report.py (nothing to install).',
    snippets: (setup) => [{ title: 'report.py', text: python(setup) }],
  },
  {
    id: 'arduino',
    name: 'Arduino / ESP32',
    how: 'A sketch for boards with the esp32 core. Call report() with what your GPS receiver says.',
    snippets: (setup) => [{ title: 'Sketch', text: arduino(setup) }],
  },
]

function curl({ address, key, deviceId }: Setup): string {
  const body = JSON.stringify({ deviceId, ...SAMPLE })
  return [
    `curl ${shell(address + PATH)} \\`,
    `  -H ${shell(`Authorization: Bearer ${key}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shell(body)}`,
  ].join('\n')
}

function gpsLogger({ address, key, deviceId }: Setup): Snippet[] {
  // GPSLogger puts its own values where a % stands.
  const id = JSON.stringify(deviceId).replaceAll('%', '\\u0025')
  const fields = [
    `"deviceId":${id}`,
    '"latitude":%LAT',
    '"longitude":%LON',
    '"timestamp":"%TIME"',
    '"accuracy":%ACC',
    '"altitude":%ALT',
  ]
  return [
    { title: 'URL', text: address + PATH },
    { title: 'HTTP method', text: 'POST' },
    {
      title: 'HTTP headers',
      text: `Authorization: Bearer ${key}\nContent-Type: application/json`,
    },
    { title: 'HTTP body', text: `{${fields.join(',')}}` },
  ]
}

function node({ address, key, deviceId }: Setup): string {
  return `const response = await fetch(${quoted(address + PATH)}, {
  method: 'POST',
  headers: {
    Authorization: ${quoted(`Bearer ${key}`)},
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    deviceId: ${quoted(deviceId)},
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
    "deviceId": ${quoted(deviceId)},
    "latitude": ${SAMPLE.latitude},
    "longitude": ${SAMPLE.longitude},
    "timestamp": datetime.now(timezone.utc).isoformat(),
}
request = urllib.request.Request(
    ${quoted(address + PATH)},
    data=json.dumps(report).encode(),
    headers={
        "Authorization": ${quoted(`Bearer ${key}`)},
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

function arduino({ address, key, deviceId }: Setup): string {
  const isSecure = address.startsWith('https:')
  const body = `{"deviceId":${JSON.stringify(deviceId).replaceAll('%', '%%')},"latitude":%.6f,"longitude":%.6f}`
  return `#include <WiFi.h>
#include <HTTPClient.h>
${isSecure ? '#include <NetworkClientSecure.h>\n' : ''}
const char *WIFI_NAME = "your network";
const char *WIFI_PASSWORD = "its password";
${isSecure ? `\n// The certificate of the authority that vouches for the server, as PEM.\nconst char *AUTHORITY = "";\n` : ''}
// Answers the HTTP status: 200 is stored; below 0 there was no answer.
int report(double latitude, double longitude) {
  char body[512];
  snprintf(body, sizeof body, ${quoted(body)}, latitude, longitude);
  ${isSecure ? 'NetworkClientSecure client;\n  client.setCACert(AUTHORITY);' : 'WiFiClient client;'}
  HTTPClient http;
  http.begin(client, ${quoted(address + PATH)});
  http.addHeader("Authorization", ${quoted(`Bearer ${key}`)});
  http.addHeader("Content-Type", "application/json");
  int status = http.POST(String(body));
  Serial.printf("%d %s\\n", status, http.getString().c_str());
  http.end();
  return status;
}

void setup() {
  Serial.begin(115200);
  WiFi.begin(WIFI_NAME, WIFI_PASSWORD);
  while (WiFi.status() != WL_CONNECTED) delay(200);
}

void loop() {
  report(${SAMPLE.latitude}, ${SAMPLE.longitude});
  delay(10000);
}
`
}

/** One word of a POSIX shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A string of JavaScript, Python and C++ alike: what JSON escapes, they read the same way. */
function quoted(text: string): string {
  return JSON.stringify(text)
}
