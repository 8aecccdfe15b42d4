import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { ingestDocument } from '../../ingest-api/openapi.ts'
import { answersTo, oddTargets, pathsIn, withoutFault } from '../odd-targets.ts'
import { bearer, query } from './apps/app-requests.ts'
import { ingestForAllTests, type IngestHarness } from './ingest-harness.ts'

const PATHS = pathsIn(ingestDocument())
const SENDER_PATHS = PATHS.filter(({ path }) => /senders|points|batches|pub|log/.test(path))

let ingest: IngestHarness
const errors: string[] = []
const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })
ingestForAllTests((given) => ({ ingest } = given), { logger })

test.each(PATHS)(
  'odd forms of $path get the error envelope, never with a 500',
  async ({ path, methods }) => {
    for (const method of [...methods, 'PUT']) {
      const answers = await answersTo(ingest.url, oddTargets(path), { method })
      expect(answers.filter((answer) => !withoutFault(answer))).toEqual([])
    }
    expect(errors).toEqual([])
  },
)

test.each(SENDER_PATHS)(
  '$path is case-sensitive, and one slash at its end is ignored',
  async ({ path }) => {
    const { secret } = await ingest.createKey()
    const statusOf = async (path: string) => {
      const init = { method: 'POST', headers: bearer(secret), body: query() }
      return (await fetch(ingest.url + path, init)).status
    }
    const known = await statusOf(path)
    expect([200, 201]).toContain(known)
    expect(await statusOf(`${path}/`)).toBe(known)
    expect(await statusOf(`${path}//`)).toBe(404)
    const [, first = ''] = path.split('/')
    expect(await statusOf(path.replace(first, first.toUpperCase()))).toBe(404)
  },
)
