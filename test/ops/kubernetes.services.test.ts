import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../ops/kubernetes', import.meta.url))

await describeWith(['kubernetesSchemas'], 'Kubernetes manifests', ({ kubernetesSchemas }) => {
  /** @throws if a file violates the API's schemas, for example with an unknown field. */
  function check(...files: readonly string[]) {
    const env = { ...process.env, PYTHONPATH: kubernetesSchemas.pythonPath }
    const args = ['-m', 'kubernetes_validate', '--kubernetes-version', '1.30', '--strict']
    return run('python3', [...args, ...files], { env })
  }

  test('manifests are valid against the API’s schemas', async () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
    expect(files.length).toBeGreaterThan(3)
    await check(...files.map((file) => join(folder, file)))
  })

  test('manifests with an unknown field would be rejected', async () => {
    const file = join(await ownDirectory(), 'misspelt.yaml')
    const text = readFileSync(join(folder, 'projector.yaml'), 'utf8')
    writeFileSync(file, text.replace('readinessProbe:', 'readynessProbe:'))
    await expect(check(file)).rejects.toMatchObject({
      stdout: expect.stringContaining('readynessProbe'),
    })
  })
})
