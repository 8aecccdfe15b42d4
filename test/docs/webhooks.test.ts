import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { signedHeaders } from '../../deliverer/send/sign.ts'
import { newSigningSecret } from '../../schemas/signing-secret.ts'
import { ownDirectory } from '../own-directory.ts'

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

/** The page's example in a language. */
function example(language: string): string {
  const code = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1]
  if (code === undefined) throw new Error(`the page has no ${language}`)
  return code
}

const BODY = '{"data":{"deviceName":"Größe 🚐"}}'
const secret = newSigningSecret()
const secrets = [newSigningSecret(), secret]
const good = () => signedHeaders(BODY, { id: 'fact-1', now: Date.now(), secrets })

/** Requests to verify, and whether each is ours and recent. */
function cases() {
  return [
    { body: BODY, headers: good(), isOurs: true },
    { body: `${BODY} `, headers: good(), isOurs: false },
    { body: BODY, headers: { ...good(), 'webhook-id': 'fact-2' }, isOurs: false },
    {
      body: BODY,
      headers: signedHeaders(BODY, { id: 'fact-1', now: Date.now() - 600_000, secrets }),
      isOurs: false,
    },
  ]
}

const run = promisify(execFile)

function has(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('the example in JavaScript verifies', () => {
  // It has one statement of its own: the rest is the library's name.
  expect(example('js')).toContain('new Webhook(secret).verify(body, headers)')
  for (const { body, headers, isOurs } of cases()) {
    const verify = () => new Webhook(secret).verify(body, headers)
    if (isOurs) expect(verify()).toEqual(JSON.parse(BODY))
    else expect(verify).toThrow()
  }
})

const ifPython = has('python3', '--version') ? test : test.skip

ifPython('the example in Python verifies', async () => {
  const directory = await ownDirectory()
  const file = join(directory, 'check.py')
  const check = `
import json, sys
for case in json.loads(sys.argv[1]):
    try:
        verified(sys.argv[2], case["body"].encode(), case["headers"])
        print(True)
    except ValueError:
        print(False)
`
  await writeFile(file, example('python') + check)
  const { stdout } = await run('python3', [file, JSON.stringify(cases()), secret])
  expect(stdout.trim().split(/\s+/)).toEqual(['True', 'False', 'False', 'False'])
})

const ifGo = has('go', 'version') ? test : test.skip

ifGo(
  'the example in Go verifies',
  async () => {
    const directory = await ownDirectory()
    await mkdir(join(directory, 'webhooks'))
    await writeFile(join(directory, 'webhooks', 'verify.go'), example('go'))
    await writeFile(join(directory, 'go.mod'), 'module check\n\ngo 1.19\n')
    await writeFile(
      join(directory, 'main.go'),
      `package main

import (
	"check/webhooks"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	var cases []struct {
		Body    string
		Headers map[string]string
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &cases); err != nil {
		panic(err)
	}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers {
			headers.Set(name, value)
		}
		fmt.Println(webhooks.Verified(os.Args[2], []byte(one.Body), headers) == nil)
	}
}
`,
    )
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
    const { stdout } = await run('go', ['run', '.', JSON.stringify(cases()), secret], {
      cwd: directory,
      env,
    })
    expect(stdout.trim().split(/\s+/)).toEqual(['true', 'false', 'false', 'false'])
  },
  120_000,
)
