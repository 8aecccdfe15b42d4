import { execFile, type ExecFileOptions } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import { startEmbedded, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const LONG = 180_000
const GENERATORS = ['python', 'go', 'typescript-fetch'] as const
const APIS = ['gpsingest', 'gpsadmin'] as const
/** Runs of a few seconds end before optimized compilation pays off. */
const SHORT_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/**
 * Clients as users generate them from the served documents: each reports, then reads its device. A
 * generator may reject a valid document, or generate code that does not compile.
 */
await describeWith(['openapiGenerator'], 'generated clients', ({ openapiGenerator }) => {
  let folder: string
  let service: Embedded
  let env: NodeJS.ProcessEnv
  let admin: ReturnType<typeof adminReader>

  beforeAll(async () => {
    folder = await ownDirectory()
    service = await startEmbedded(join(folder, 'data'))
    const { adminUrl, ingestUrl } = service
    const key = await eventually(() => /gps_[A-Za-z0-9]{38}/.exec(service.output())?.[0])
    env = { ...process.env, INGEST_URL: ingestUrl, ADMIN_URL: adminUrl, API_KEY: key }
    admin = adminReader({ adminUrl, key })
    await generateAll()
  }, LONG)

  afterAll(async () => {
    service.process.kill('SIGTERM')
    await service.ended
  }, LONG)

  /**
   * In one process, because each takes seconds to start. Sequentially, because generators share
   * settings: two at a time once omitted an API.
   */
  async function generateAll(): Promise<void> {
    const configs = GENERATORS.flatMap((generator) => APIS.map((api) => ({ generator, api })))
    const files = configs.map(async ({ generator, api }) => {
      const file = join(folder, `${generator}-${api}.json`)
      const url = api === 'gpsingest' ? service.ingestUrl : service.adminUrl
      const config = {
        generatorName: generator,
        inputSpec: `${url}/openapi.json`,
        outputDir: join(folder, generator, api),
        additionalProperties: { packageName: api, withGoMod: false },
        globalProperties: { apiDocs: 'false', modelDocs: 'false' },
      }
      await writeFile(file, JSON.stringify(config))
      return file
    })
    const batch = ['-jar', openapiGenerator.jar, 'batch', '--fail-fast', '--threads', '1']
    await run('java', [...SHORT_JVM, ...batch, ...(await Promise.all(files))])
  }

  /** Reports a position, then reads its device once it exists, with the generated clients. */
  async function reportsAndReads(deviceId: string, program: string, args: string[]) {
    const sent = await run(program, [...args, 'report'], { env })
    expect(sent.trim()).toMatch(/^[0-9A-Z]{26}$/)
    await eventually(async () =>
      (await admin.devices()).find((device) => device.deviceId === deviceId),
    )
    expect((await run(program, [...args, 'read'], { env })).trim()).toBe(`${deviceId} 1`)
  }

  test(
    'generated clients in Python report and read',
    async () => {
      const place = join(folder, 'python')
      await writeFile(join(place, 'call.py'), PYTHON)
      const packages = [...APIS.map((name) => join(place, name)), openapiGenerator.pythonPath]
      env = { ...env, PYTHONPATH: packages.join(':') }
      await reportsAndReads('python', 'python3', [join(place, 'call.py')])
    },
    LONG,
  )

  test(
    'generated clients in Go compile, report and read',
    async () => {
      const place = join(folder, 'go')
      await writeFile(join(place, 'main.go'), GO)
      await writeFile(join(place, 'go.mod'), 'module clients\n\ngo 1.19\n')
      await run('go', ['get', GO_VALIDATOR], { cwd: place })
      await run('go', ['build', '-o', 'call', '.'], { cwd: place })
      await reportsAndReads('go', join(place, 'call'), [])
    },
    LONG,
  )

  test(
    'generated clients in TypeScript compile, report and read',
    async () => {
      const place = join(folder, 'typescript-fetch')
      await writeFile(join(place, 'call.ts'), TYPESCRIPT)
      await writeFile(join(place, 'package.json'), '{"type":"commonjs"}')
      const compiler = [
        join(root, 'node_modules/typescript/bin/tsc'),
        ...['--target', 'es2022', '--module', 'node16', '--lib', 'es2022,dom', '--skipLibCheck'],
        ...['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node', '--strict'],
      ]
      await run(process.execPath, [...compiler, 'call.ts'], { cwd: place })
      await reportsAndReads('typescript', process.execPath, [join(place, 'call.js')])
    },
    LONG,
  )
})

/** A program's output. If it fails, the error has that output, where compilers print errors. */
async function run(
  program: string,
  args: string[],
  options: ExecFileOptions = {},
): Promise<string> {
  const { stdout } = await execute(program, args, { ...options, encoding: 'utf8' }).catch(
    ({ message, stdout }: Error & { stdout: string }) => {
      throw new Error(`${message}\n${stdout.slice(-4000)}`)
    },
  )
  return stdout
}

/** The generated code needs this package to read a union, such as a geofence's shape. */
const GO_VALIDATOR = 'gopkg.in/validator.v2@v2.0.1'

const PYTHON = `import os, sys
import gpsadmin, gpsingest
key = os.environ["API_KEY"]
if sys.argv[1] == "report":
    config = gpsingest.Configuration(host=os.environ["INGEST_URL"], access_token=key)
    report = {"deviceId": "python", "latitude": 52.5, "longitude": 13.4}
    api = gpsingest.PositionsApi(gpsingest.ApiClient(config))
    print(api.submit_position(gpsingest.PositionReport.from_dict(report)).data.record_id)
else:
    config = gpsadmin.Configuration(host=os.environ["ADMIN_URL"], access_token=key)
    device = gpsadmin.DevicesApi(gpsadmin.ApiClient(config)).get_device("python").data
    print(device.device_id, device.report_count)
`

const GO = `package main

import (
	"context"
	"fmt"
	"os"

	"clients/gpsadmin"
	"clients/gpsingest"
)

func main() {
	if os.Args[1] == "report" {
		config := gpsingest.NewConfiguration()
		config.Servers = gpsingest.ServerConfigurations{{URL: os.Getenv("INGEST_URL")}}
		ctx := context.WithValue(context.Background(), gpsingest.ContextAccessToken, os.Getenv("API_KEY"))
		report := gpsingest.NewPositionReport("go", 52.5, 13.4)
		answer, _, err := gpsingest.NewAPIClient(config).PositionsAPI.SubmitPosition(ctx).PositionReport(*report).Execute()
		check(err)
		fmt.Println(answer.Data.RecordId)
		return
	}
	config := gpsadmin.NewConfiguration()
	config.Servers = gpsadmin.ServerConfigurations{{URL: os.Getenv("ADMIN_URL")}}
	ctx := context.WithValue(context.Background(), gpsadmin.ContextAccessToken, os.Getenv("API_KEY"))
	answer, _, err := gpsadmin.NewAPIClient(config).DevicesAPI.GetDevice(ctx, "go").Execute()
	check(err)
	fmt.Println(answer.Data.DeviceId, answer.Data.ReportCount)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

const TYPESCRIPT = `import * as admin from './gpsadmin/index'
import * as ingest from './gpsingest/index'

const { API_KEY: accessToken = '', INGEST_URL = '', ADMIN_URL = '' } = process.env

async function main(): Promise<void> {
  if (process.argv[2] === 'report') {
    const api = new ingest.PositionsApi(new ingest.Configuration({ basePath: INGEST_URL, accessToken }))
    const positionReport = { deviceId: 'typescript', latitude: 52.5, longitude: 13.4 }
    console.log((await api.submitPosition({ positionReport })).data.recordId)
    return
  }
  const api = new admin.DevicesApi(new admin.Configuration({ basePath: ADMIN_URL, accessToken }))
  const { data } = await api.getDevice({ deviceId: 'typescript' })
  console.log(data.deviceId, data.reportCount)
}

void main()
`
