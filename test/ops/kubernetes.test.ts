import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'

const root = new URL('../../', import.meta.url)
const folder = new URL('ops/kubernetes/', root)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

type Variable = { readonly name: string; readonly value?: string; readonly valueFrom?: object }
type Container = {
  readonly name: string
  readonly image: string
  readonly command: readonly string[]
  readonly env: readonly Variable[]
  readonly ports: readonly { readonly containerPort: number }[]
}
type Manifest = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly enableServiceLinks: boolean
        readonly containers: readonly [Container]
      }
    }
  }
}

const manifests = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(read(`ops/kubernetes/${file}`)))
  .map((document) => document.toJS() as Manifest)
const deployments = manifests
  .filter(({ kind }) => kind === 'Deployment')
  .map(({ spec }) => ({ ...spec.template.spec, container: spec.template.spec.containers[0] }))
const known = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
const { version } = JSON.parse(read('package.json')) as { version: string }

test('each service has a deployment of this version’s image that starts its program on its port', () => {
  const [ports = ''] = /^ENV .*$/m.exec(read('Dockerfile')) ?? []
  for (const { container } of deployments) {
    const { name, image, command } = container
    expect(image).toBe(`gps-position-ingestion:${version}`)
    expect(command).toEqual(['scripts/start.sh', name])
    expect(existsSync(new URL(`${name}/main.ts`, root))).toBe(true)
    const variable = `${name.replace('-api', '').toUpperCase()}_PORT`
    expect(ports).toContain(`${variable}=${container.ports[0]?.containerPort}`)
  }
  const names = deployments.map(({ container }) => container.name)
  expect(names.sort()).toEqual(['admin-api', 'deliverer', 'ingest-api', 'projector'])
})

test('the programs read every variable, and no others reach them', () => {
  const config = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
  const names = deployments.flatMap(({ container }) => container.env.map(({ name }) => name))
  expect(known).toEqual(expect.arrayContaining([...Object.keys(config), ...names]))
  // Kubernetes would set PROJECTOR_PORT to the address of a service called projector.
  for (const { enableServiceLinks } of deployments) expect(enableServiceLinks).toBe(false)
})

test('only admin API and deliverer have the secrets key, and it is the same', () => {
  const having = deployments.filter(({ container }) =>
    container.env.some(({ name }) => name === 'SECRETS_KEY'),
  )
  expect(having.map(({ container }) => container.name)).toEqual(['admin-api', 'deliverer'])
})

test('secrets are only referenced, never included', () => {
  const config = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
  expect(Object.keys(config).join()).not.toMatch(/PASSWORD|MONGODB_URL|SECRETS_KEY|SMTP_URL/)
  expect(manifests.map(({ kind }) => kind)).not.toContain('Secret')
  for (const { container } of deployments) {
    for (const { name, value, valueFrom } of container.env) {
      expect(value).toBeUndefined()
      expect(valueFrom).toMatchObject({ secretKeyRef: { name: 'gps', key: name } })
    }
  }
})
