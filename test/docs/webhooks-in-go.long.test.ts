import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'
import { cases, example, has, secret } from './webhook-cases.ts'

const run = promisify(execFile)

const ifGo = has('go', 'version') ? test : test.skip

ifGo('the example in Go verifies', async () => {
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
})
