import { SAMPLE, SUBMIT, type Guide, type Setup } from './guide.ts'
import { stringLiteral, submit } from './home-made.ts'

const WIFI =
  'No response at all: the board has no network, or the address cannot be reached from its network.'

export const MICROPYTHON: Guide = {
  id: 'micropython',
  name: 'MicroPython',
  about: 'For boards with MicroPython and Wi-Fi (ESP32, Raspberry Pi Pico W).',
  steps: (setup) => [
    {
      text: 'Save it on the board as `main.py` and call `report` with the position from your GPS receiver. If `requests` is missing, install it with `mpremote mip install requests`.',
      entries: [{ title: 'main.py', text: micropython(setup) }],
    },
  ],
  troubles: [
    'The status and the response are printed: `mpremote` shows them.',
    WIFI,
    'MicroPython does not check the certificate of an `https://` address by itself.',
  ],
  example: submit,
}

export const ARDUINO: Guide = {
  id: 'arduino',
  name: 'Arduino / ESP32',
  about: 'A sketch for boards with the esp32 core.',
  steps: (setup) => [
    {
      text: 'Enter your network, and call `report()` with the position from your GPS receiver.',
      entries: [{ title: 'Sketch', text: arduino(setup) }],
    },
  ],
  troubles: [
    'The serial monitor (115200) shows the status and the response; below 0 there was none.',
    'An `https://` address needs `AUTHORITY`, the certificate of the authority that vouches for the server.',
    'An `http://` address, in your own network, needs `WiFiClient client;` instead of the two lines with `NetworkClientSecure` and `setCACert`, and neither that include nor `AUTHORITY`. The console writes the sketch for its own address.',
    WIFI,
  ],
  example: submit,
}

function micropython({ address, key, deviceId }: Setup): string {
  return `import binascii
import json
import os
import time

import requests

URL = ${stringLiteral(address + SUBMIT)}
KEY = ${stringLiteral(key)}
DEVICE = ${stringLiteral(deviceId)}
WIFI_NAME = "your network"
WIFI_PASSWORD = "its password"


def connect():
    try:
        import network
    except ImportError:
        return  # not on a board
    wlan = network.WLAN(network.STA_IF)
    wlan.active(True)
    wlan.connect(WIFI_NAME, WIFI_PASSWORD)
    while not wlan.isconnected():
        time.sleep(1)


def report(latitude, longitude):
    """Tries until the report is stored or rejected. Returns the HTTP status."""
    headers = {
        "Authorization": "Bearer " + KEY,
        "Content-Type": "application/json",
        # The same in every try, so that it is stored once.
        "Idempotency-Key": binascii.hexlify(os.urandom(12)).decode(),
    }
    # As bytes: requests counts the length of a text in characters.
    body = json.dumps(
        {"deviceId": DEVICE, "latitude": latitude, "longitude": longitude}
    ).encode()
    wait = 1
    while True:
        try:
            response = requests.post(URL, data=body, headers=headers, timeout=10)
            status, text = response.status_code, response.text
            response.close()
            print(status, text)
            if status < 500 and status != 429:
                return status
        except OSError as error:
            print("no response:", error)
        time.sleep(wait)
        wait = min(60, wait * 2)


connect()
report(${SAMPLE.latitude}, ${SAMPLE.longitude})
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
// Returns the HTTP status: 200 is stored; below 0 there was no response.
int report(double latitude, double longitude) {
  char body[512];
  snprintf(body, sizeof body, ${stringLiteral(body)}, latitude, longitude);
  ${isSecure ? 'NetworkClientSecure client;\n  client.setCACert(AUTHORITY);' : 'WiFiClient client;'}
  HTTPClient http;
  http.begin(client, ${stringLiteral(address + SUBMIT)});
  http.addHeader("Authorization", ${stringLiteral(`Bearer ${key}`)});
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
