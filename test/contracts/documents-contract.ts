import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type {
  DocumentStore,
  Revisioned,
  Kind,
  OpenDocuments,
  Query,
} from '../../store/documents.ts'

type Tug = {
  readonly id: string
  readonly harbour: string
  readonly built?: number
  readonly callSign?: string
  readonly crew?: readonly { readonly name: string; readonly '$first.mate'?: null }[]
  readonly owner?: { readonly name: string; readonly ships?: Readonly<Record<number, boolean>> }
}

export const TUGS: Kind<Tug> = {
  name: 'tugs',
  indexes: {
    harbour: { fields: ['harbour'] },
    age: { fields: ['harbour', 'built'] },
    built: { fields: ['built'] },
    sign: { fields: ['callSign'], unique: true },
    owner: { fields: ['harbour', 'owner.name'] },
  },
}

type Barge = Tug & { readonly version?: number }

/** In the form of an earlier version, which did not count writes. */
const EARLIER_BARGES: Kind<Barge> = {
  name: 'barges',
  indexes: { version: { fields: ['version'] }, harbour: { fields: ['harbour', 'version'] } },
}
export const BARGES: Kind<Barge> = {
  ...EARLIER_BARGES,
  isCounted: true,
  brief: ['harbour', 'built', 'version'],
}

/** `open` gives the documents of `TUGS` and `BARGES` for two processes, on data that are empty at first. */
export function documentsContract(
  name: string,
  start: () => Promise<{
    open: () => Promise<OpenDocuments>
    close: () => Promise<void>
  }>,
): void {
  describe(`${name} as Documents`, () => {
    let started: Awaited<ReturnType<typeof start>>
    let tugs: DocumentStore<Tug>
    let others: DocumentStore<Tug>
    let barges: DocumentStore<Barge>
    let otherBarges: DocumentStore<Barge>
    let earlierBarges: DocumentStore<Barge>
    let made = 0

    beforeAll(async () => {
      started = await start()
      const [open, openOther] = [await started.open(), await started.open()]
      tugs = open(TUGS)
      others = openOther(TUGS)
      barges = open(BARGES)
      otherBarges = openOther(BARGES)
      earlierBarges = openOther(EARLIER_BARGES)
    })
    afterAll(() => started.close())

    test('each write of a counted kind gets a higher version, whichever process writes', async () => {
      const [one, other] = [tug({}), tug({})]
      await barges.insert([one, other])
      await barges.insert([one])
      const versionOf = async ({ id }: Barge) => (await barges.get(id))?.version ?? 0
      const [first, second] = [await versionOf(one), await versionOf(other)]
      expect(second).toBeGreaterThan(first)
      const read = (await otherBarges.get(one.id))!
      expect(await otherBarges.replace({ ...read, built: 1 })).toBe(true)
      expect(await versionOf(one)).toBeGreaterThan(second)
      expect(await barges.replace(read)).toBe(false)
      expect(await versionOf(other)).toBe(second)
      const listed = await barges.find({ index: 'version', from: second, limit: 9 })
      expect(listed.map(({ id }) => id)).toEqual([other.id, one.id])
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 ? barges : otherBarges).insert([tug({})])),
      )
      const all = await barges.find({ index: 'version', limit: 99 })
      expect(new Set(all.map(({ version }) => version)).size).toBe(22)
    })

    test('a document that an earlier version wrote is found by the absence of a version, and gets one', async () => {
      const [plain, full] = [tug({}), tug({ built: 1962 })]
      await earlierBarges.insert([plain, full])
      const without = { index: 'version', where: { version: null }, limit: 9 } as const
      expect(ids(await barges.find(without))).toEqual(ids([plain, full]))
      expect(await barges.replace((await barges.get(plain.id))!)).toBe(true)
      expect(ids(await barges.find(without))).toEqual([full.id])
      await earlierBarges.replace({ ...plain, revision: (await barges.get(plain.id))!.revision })
      expect(ids(await barges.find(without))).toEqual(ids([plain, full]))
    })

    test('a brief read returns only some fields', async () => {
      const [plain, full] = [
        tug({ harbour: 'brief' }),
        tug({ harbour: 'brief', built: 1, crew: [] }),
      ]
      await barges.insert([plain, full])
      const query = { index: 'harbour', where: { harbour: 'brief' }, limit: 9 } as const
      const common = { harbour: 'brief', revision: 1, version: expect.any(Number) }
      expect(await barges.find({ ...query, isBrief: true })).toEqual([
        { ...common, id: plain.id },
        { ...common, id: full.id, built: 1 },
      ])
    })

    test('a page ends after the document that reaches its byte limit', async () => {
      const name = 'x'.repeat(10_000)
      const all = Array.from({ length: 100 }, () => tug({ harbour: 'bytes', crew: [{ name }] }))
      await barges.insert(all)
      const query = { index: 'harbour', where: { harbour: 'bytes' }, limit: 90, skip: 1 } as const
      const sorted = ids(await barges.find(query))
      const page = async (mostBytes: number) => ids(await barges.find({ ...query, mostBytes }))
      expect(await page(1)).toEqual(sorted.slice(0, 1))
      expect(await page(30_000)).toEqual(sorted.slice(0, 3))
      expect(await page(650_000)).toEqual(sorted.slice(0, 65))
      expect(await page(10_000_000)).toEqual(sorted)
    })

    test('a document comes back as it was inserted', async () => {
      const plain = tug({})
      const full = tug({
        built: 1962.5,
        callSign: `"Žofie" 😀 ' % \\ ${made}`,
        crew: [{ name: '', '$first.mate': null }, { name: '__proto__' }],
        owner: { name: 'Žofie\0', ships: { 0: false, 59: true } },
      })
      expect(await tugs.insert([plain, full])).toEqual([plain, full])
      expect(await others.get(plain.id)).toEqual({ ...plain, revision: expect.any(Number) })
      const found = await others.get(full.id)
      expect(found).toEqual({ ...full, revision: expect.any(Number) })
      expect(Object.keys((await tugs.get(plain.id)) ?? {})).not.toContain('built')
      expect(await tugs.get('none')).toBeUndefined()
      expect(await tugs.insert([])).toEqual([])
    })

    test('an id or a unique value is inserted once; the rest of the batch is inserted', async () => {
      const [first, second] = [tug({ callSign: sign() }), tug({ callSign: sign() })]
      await tugs.insert([first])
      const sameSign = tug({ callSign: first.callSign ?? '' })
      const sameId = { ...first, callSign: sign() }
      const [bare, bareToo] = [tug({}), tug({})]
      const batch = [sameSign, second, sameId, bare, { ...bare, harbour: 'Brest' }, bareToo]
      expect(await others.insert(batch)).toEqual([second, bare, bareToo])
      expect(await tugs.get(sameSign.id)).toBeUndefined()
      expect(await tugs.get(first.id)).toMatchObject(first)
      expect(await tugs.get(bare.id)).toMatchObject(bare)
    })

    test('one of many concurrent writers of a unique value gets it', async () => {
      const callSign = sign()
      const all = Array.from({ length: 8 }, () => tug({ callSign }))
      const inserted = await Promise.all(
        all.map((one, n) => (n % 2 === 0 ? tugs : others).insert([one])),
      )
      expect(inserted.flat()).toHaveLength(1)
      expect(await tugs.find({ index: 'sign', where: { callSign }, limit: 9 })).toHaveLength(1)
    })

    test('a removed document’s unique value can be reused', async () => {
      const callSign = sign()
      const [one, next] = [tug({ callSign }), tug({ callSign })]
      await tugs.insert([one])
      expect(await tugs.remove(one)).toBe(true)
      expect(await tugs.remove(one)).toBe(false)
      expect(await others.insert([next])).toEqual([next])
    })

    test('a document is replaced or removed only if unchanged since it was read', async () => {
      const before = await inserted({ built: 1, callSign: sign() })
      const { id, revision, harbour } = before
      expect(await others.replace({ id, revision, harbour, built: 2 })).toBe(true)
      expect(await tugs.replace({ ...before, built: 3 })).toBe(false)
      expect(await tugs.remove(before)).toBe(false)
      const after = await read(before.id)
      expect(after).toMatchObject({ built: 2 })
      expect(Object.keys(after)).not.toContain('callSign')
      // Writing the same value is also a change: earlier readers are out of date.
      expect(await tugs.replace(after)).toBe(true)
      expect(await others.replace(after)).toBe(false)
      expect(await tugs.remove(await read(before.id))).toBe(true)
      expect(await tugs.replace(await inserted({ id: `${before.id}-gone` }))).toBe(true)
      expect(await tugs.replace(after)).toBe(false)
      expect(await tugs.get(before.id)).toBeUndefined()
    })

    test('a replacement cannot take another document’s unique value', async () => {
      const [one, other] = [await inserted({ callSign: sign() }), await inserted({})]
      expect(await tugs.replace({ ...other, callSign: one.callSign ?? '' })).toBe(false)
      expect(await read(other.id)).toEqual(other)
    })

    test('of many documents, exactly the unchanged ones that take no unique value are replaced', async () => {
      const [taken, one, stale, other] = [
        await inserted({ callSign: sign() }),
        ...(await Promise.all([inserted({}), inserted({}), inserted({})])),
      ] as const
      await others.replace(stale)
      const renewed = [one, stale, { ...other, callSign: taken.callSign ?? '' }, await inserted({})]
      expect(await tugs.replaceAll(renewed.map((each) => ({ ...each, built: 1 })))).toBe(2)
      const built = await Promise.all(renewed.map(async ({ id }) => (await read(id)).built))
      expect(built).toEqual([1, undefined, undefined, 1])
      expect(await tugs.replaceAll(renewed)).toBe(0)
      expect(await tugs.replaceAll([])).toBe(0)
      const counted = [tug({}), tug({}), tug({})]
      await barges.insert(counted)
      const whole = await Promise.all(counted.map(async ({ id }) => (await barges.get(id))!))
      expect(await otherBarges.replaceAll(whole)).toBe(3)
      const versions = await Promise.all(
        counted.map(async ({ id }) => (await barges.get(id))?.version ?? 0),
      )
      expect(new Set(versions).size).toBe(3)
      expect(Math.min(...versions)).toBeGreaterThan(whole[2]?.version ?? Infinity)
    })

    test('no concurrent replacement is lost', async () => {
      const { id } = await inserted({ built: 0 })
      const add = async (documents: DocumentStore<Tug>): Promise<void> => {
        for (;;) {
          const found = await documents.get(id)
          if (found && (await documents.replace({ ...found, built: (found.built ?? 0) + 1 })))
            return
        }
      }
      await Promise.all(Array.from({ length: 10 }, (_, n) => add(n % 2 === 0 ? tugs : others)))
      expect((await read(id)).built).toBe(10)
    })

    test('a number is raised and never lowered, and raising it changes the revision', async () => {
      const [old, bare] = [await inserted({ built: 5 }), await inserted({})]
      await tugs.raise('built', new Map([[old.id, 4]]))
      expect(await read(old.id)).toEqual(old)
      const raised = new Map([
        [old.id, 7.25],
        [bare.id, 1_771_234_567_890],
        ['none', 1],
      ])
      await others.raise('built', raised)
      expect(await read(old.id)).toMatchObject({
        ...old,
        built: 7.25,
        revision: expect.any(Number),
      })
      expect((await read(bare.id)).built).toBe(1_771_234_567_890)
      expect(await tugs.get('none')).toBeUndefined()
      expect(await tugs.replace({ ...old, built: 1 })).toBe(false)
      await tugs.raise('built', new Map())
    })

    test('pages follow an index from any position, in both directions, each document once', async () => {
      const harbour = 'Le Havre'
      const all = [3, 1, 2, 2, 2, 0, 10].map((built) => tug({ harbour, built }))
      await tugs.insert([...all, tug({ harbour: 'Le Havr', built: 2 }), tug({ built: 2 })])
      const byAge = [...all].sort(
        (a, b) => (a.built ?? 0) - (b.built ?? 0) || (a.id < b.id ? -1 : 1),
      )
      const byId = [...all].sort((a, b) => (a.id < b.id ? -1 : 1))
      for (const order of ['asc', 'desc'] as const) {
        for (const [index, sorted] of [
          ['age', byAge],
          ['harbour', byId],
        ] as const) {
          const wanted = order === 'asc' ? sorted : [...sorted].reverse()
          expect(await pages({ index, where: { harbour }, order, limit: 2 })).toEqual(wanted)
        }
      }
      const from = { index: 'age', where: { harbour }, from: 2, limit: 99 } as const
      expect(plain(await tugs.find(from))).toEqual(byAge.slice(2))
      expect(plain(await tugs.find({ ...from, order: 'desc' }))).toEqual(byAge.slice(2).reverse())
      const skipped = { index: 'age', where: { harbour }, skip: 5, limit: 1 } as const
      expect(plain(await tugs.find(skipped))).toEqual([byAge[5]])
      expect(plain(await tugs.find({ ...skipped, order: 'desc' }))).toEqual([byAge[1]])
      expect(await tugs.find({ ...skipped, skip: 7 })).toEqual([])
      const [second] = byId
      await tugs.remove({ id: second?.id ?? '' })
      const beyond = { index: 'harbour', where: { harbour }, after: second ?? tug({}), limit: 99 }
      expect(plain(await tugs.find(beyond))).toEqual(byId.slice(1))
    })

    test('a look-up matches the exact text', async () => {
      const texts = [
        'Cuxhaven',
        'cuxhaven',
        'caf\u00e9',
        'cafe\u0301',
        '%',
        "' OR 1=1 --",
        '$ne',
        '',
      ]
      await tugs.insert(texts.map((harbour) => tug({ harbour })))
      for (const harbour of texts) {
        const found = await others.find({ index: 'harbour', where: { harbour }, limit: 9 })
        expect(found.map((one) => one.harbour)).toEqual([harbour])
      }
      for (const harbour of ['Cuxhaven\0', 'CUXHAVEN', 'Cux']) {
        expect(await tugs.find({ index: 'harbour', where: { harbour }, limit: 9 })).toEqual([])
      }
    })

    test('a look-up matches the exact text in a field of an object', async () => {
      const harbour = 'Honfleur'
      const owned = ['$ne.1', 'a.b', 'Ana', 'ana'].map((name) => tug({ harbour, owner: { name } }))
      await tugs.insert([...owned, tug({ harbour })])
      for (const one of owned) {
        const where = { harbour, 'owner.name': one.owner?.name }
        expect(plain(await others.find({ index: 'owner', where, limit: 9 }))).toEqual([one])
      }
    })

    test('older documents are removed by time or id, of one value or of all', async () => {
      const [calais, dover] = [1, 2, 3]
        .map(
          (n) =>
            [tug({ harbour: 'Calais', built: -n }), tug({ harbour: 'Dover', built: -n })] as const,
        )
        .reduce<[Tug[], Tug[]]>(
          ([a, b], [c, d]) => [
            [...a, c],
            [...b, d],
          ],
          [[], []],
        )
      await tugs.insert([...calais, ...dover, tug({ harbour: 'Dover' })])
      const left = async (harbour: string) =>
        (await tugs.find({ index: 'harbour', where: { harbour }, limit: 9 })).map(
          ({ built }) => built,
        )
      await tugs.removeOlder({ index: 'age', where: { harbour: 'Calais' }, than: -2 })
      expect(await left('Calais')).toEqual([-1, -2])
      expect(await left('Dover')).toEqual([-1, -2, -3, undefined])
      await others.removeOlder({ index: 'built', than: -1 })
      expect(await left('Calais')).toEqual([-1])
      expect(await left('Dover')).toEqual([-1, undefined])
      const last = (
        await tugs.find({ index: 'harbour', where: { harbour: 'Dover' }, limit: 9 })
      ).at(-1)
      await tugs.removeOlder({
        index: 'harbour',
        where: { harbour: 'Dover' },
        than: last?.id ?? '',
      })
      expect(await left('Dover')).toEqual([undefined])
    })

    test('a query without a matching index is rejected', async () => {
      await expect(tugs.find({ index: 'colour', limit: 1 })).rejects.toThrow('no index colour')
      const wrong = { index: 'age', where: { built: 1 }, limit: 1 } as const
      await expect(tugs.find(wrong)).rejects.toThrow('does not start with')
    })

    function tug(fields: Partial<Tug>): Tug {
      made += 1
      return { id: `tug-${String(made).padStart(5, '0')}`, harbour: 'Rotterdam', ...fields }
    }

    function sign(): string {
      made += 1
      return `call-${made}`
    }

    async function inserted(fields: Partial<Tug>): Promise<Revisioned<Tug>> {
      const [one] = await tugs.insert([tug(fields)])
      return read(one?.id ?? '')
    }

    async function read(id: string): Promise<Revisioned<Tug>> {
      const found = await others.get(id)
      if (found === undefined) throw new Error(`${id} is not there`)
      return found
    }

    async function pages(query: Query<Tug>): Promise<Tug[]> {
      const seen: Revisioned<Tug>[] = []
      for (;;) {
        const after = seen.at(-1)
        const page = await tugs.find({ ...query, ...(after && { after }) })
        seen.push(...page)
        if (page.length === 0) return plain(seen)
      }
    }
  })
}

function ids(found: readonly Tug[]): string[] {
  return found.map(({ id }) => id)
}

function plain(found: readonly Revisioned<Tug>[]): Tug[] {
  return found.map(({ revision: _revision, ...tug }) => tug)
}
