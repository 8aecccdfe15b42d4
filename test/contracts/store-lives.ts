import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import fc from 'fast-check'
import { secretHash } from '../../schemas/access/api-key.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId } from './store-samples.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const NAME = 'Mrs Miller'
const AT_ONCE = 20

/** The steps of a change, of the call that erases its device, and of the projector: one call of the store each. */
const CHANGE = ['reads the life', 'finds the device', 'writes'] as const
const ERASURE = ['is announced', 'is confirmed'] as const
const PROJECTOR = ['forgets', 'projects', 'projects a report'] as const

type Step = (typeof CHANGE | typeof ERASURE | typeof PROJECTOR)[number]

export function livesContract({ promise, alone, shared, log, runs }: StoreSuite): void {
  const deviceId = 'van'
  /** Each story has its own partition, so that stories can run concurrently. */
  let partitions = 100

  promise(
    'a change that starts before an erasure is confirmed does not outlive it, in any order of steps',
    async () => {
      const orders = interleavings(CHANGE, ERASURE, PROJECTOR).filter(
        (order) => isPossible(order) && isBefore(order, 'reads the life', 'is confirmed'),
      )
      expect(orders.length).toBe(189)
      await inAll(someOf(orders, runs(189)), async (story) => {
        for (const step of story.order) await story.takes(step)
        await story.ends()
        expect(await said(story.accountId)).toEqual(NOTHING)
      })
    },
  )

  promise(
    'a change does not outlive an erasure that is logged but never confirmed because its process died',
    async () => {
      const orders = interleavings(CHANGE, ERASURE.slice(0, 1), PROJECTOR).filter(
        (order) =>
          isPossible(order) &&
          (isBefore(order, 'reads the life', 'forgets') ||
            isBefore(order, 'finds the device', 'projects a report')),
      )
      expect(orders.length).toBe(32)
      await inAll(someOf(orders, runs(32)), async (story) => {
        for (const step of story.order) await story.takes(step)
        await story.ends()
        expect(await said(story.accountId)).toEqual(NOTHING)
      })
    },
  )

  promise('changes made once a device reports after its erasure stay', async () => {
    const order = [...ERASURE, ...PROJECTOR, ...CHANGE]
    await inAll([order], async (story) => {
      for (const step of order) await story.takes(step)
      const all = await said(story.accountId)
      expect(all).toEqual({ name: NAME, labels: [NAME], shared: [NAME], disabled: true })
      // The log may deliver the erasure again, and a rebuild does.
      await story.takes('forgets')
      expect(await said(story.accountId)).toEqual(all)
      await shared.reopen()
      expect(await said(story.accountId)).toEqual(all)
    })
  })

  promise(
    'an erasure unknown to a restored store removes settings written before it, and no more',
    async ({ accountId }) => {
      const device = { accountId, deviceId }
      const common = { accountId, trailMinutes: 0, expiresAt: T0 + DAY_MS }
      const share = async (createdAt: number) => {
        const id = `share-${randomUUID()}`
        const devices = [{ deviceId, ref: id, name: NAME }]
        const made = { ...common, id, createdAt, devices }
        expect(await shared.store.createShare(made, secretHash(id))).toBe(true)
      }
      await shared.store.changeDeviceSettings({ ...device, name: NAME, changedAt: T0 })
      await share(T0)
      const erasure = deviceErased({ ...device, erasedAt: T0 })
      await shared.store.forgetErased(erasure)
      await shared.store.project(batchOf(log.erase(erasure), log.append(positionReported(device))))
      const found = await shared.store.findDevice(device)
      expect(found?.settings).toEqual({ disabled: false })
      const namesOf = async () =>
        (await shared.store.pageShares({ accountId, limit: 9 })).map(({ devices }) =>
          devices.map(({ name }) => name),
        )
      expect(await namesOf()).toEqual([[]])

      await share(T0 + 1)
      await shared.store.forgetErased(erasure)
      expect(await namesOf()).toEqual([[NAME], []])
    },
  )

  promise('changes concurrent with an erasure do not outlive it', async () => {
    const stories = await Promise.all(Array.from({ length: runs(40) }, () => newStory([])))
    await Promise.all(
      stories.flatMap((story) =>
        [CHANGE, ERASURE].map(async (steps) => {
          for (const step of steps) await story.takes(step)
        }),
      ),
    )
    for (const story of stories) {
      await story.ends()
      expect(await said(story.accountId)).toEqual(NOTHING)
    }
  })

  promise(
    'an erasure that never reached the log removes nothing, even after other erasures',
    async () => {
      const story = await newStory([])
      const { accountId } = story
      for (const step of CHANGE) await story.takes(step)
      const lost = deviceErased({ accountId, deviceId, erasedAt: T0 - 1 })
      await shared.store.announceErasure(lost)
      expect(await said(accountId)).toMatchObject({ name: NAME, shared: [NAME] })
      for (const step of [...ERASURE, ...PROJECTOR]) await story.takes(step)
      expect(await said(accountId)).toEqual(NOTHING)
      for (const step of CHANGE) await story.takes(step)
      // As if an abandoned call had still reached the log.
      await shared.store.forgetErased(lost)
      expect(await said(accountId)).toMatchObject({ name: NAME, shared: [NAME] })
    },
  )

  alone('the life of a device outlasts every share, and is then removed', async ({ store }) => {
    const device = { accountId: 'acc-1', deviceId }
    const erasure = deviceErased({ ...device, erasedAt: T0 })
    const lives = () => store.livesOf({ accountId: 'acc-1', deviceIds: [deviceId] })
    await store.announceErasure(erasure)
    await store.hideErased(erasure)
    const life = (await lives()).get(deviceId)
    expect(life).toBeDefined()
    await store.expire(T0 + 33 * DAY_MS)
    expect((await lives()).get(deviceId)).toBe(life)
    await store.changeDeviceSettings({ ...device, life, changedAt: T0, disabled: true })
    await store.expire(T0 + 34 * DAY_MS)
    expect((await lives()).get(deviceId)).toBe(life)
    await store.changeDeviceSettings({ ...device, life, changedAt: T0, disabled: false })
    await store.expire(T0 + 34 * DAY_MS)
    expect(await lives()).toEqual(new Map())
  })

  alone(
    'a share created during an erasure contains nothing of the device once its life is removed',
    async ({ store }) => {
      const device = { accountId: 'acc-1', deviceId }
      const erasure = deviceErased({ ...device, erasedAt: T0 })
      await store.announceErasure(erasure)
      const share = {
        id: 'share',
        accountId: 'acc-1',
        trailMinutes: 0,
        createdAt: T0 + 1,
        expiresAt: T0 + DAY_MS,
        devices: [{ deviceId, ref: 'ref', name: NAME }],
      }
      expect(await store.createShare(share, secretHash(share.id))).toBe(true)
      await store.hideErased(erasure)
      await store.unshareDevice({ ...device, sharedUpTo: T0 })
      await store.expire(T0 + 34 * DAY_MS)
      expect(await store.livesOf({ accountId: 'acc-1', deviceIds: [deviceId] })).toEqual(new Map())
      expect(await store.pageShares({ accountId: 'acc-1', limit: 9 })).toMatchObject([
        { devices: [] },
      ])
    },
  )

  /** The traces of a change in all reads of operators and viewers. */
  async function said(accountId: string) {
    const device = await shared.store.findDevice({ accountId, deviceId })
    if (device === undefined) throw new Error('it has reported')
    const { name, labels, expectedIntervalSeconds, disabled } = device.settings
    const intervals = await shared.store.devicesWithInterval(accountId)
    expect(intervals.length).toBe(expectedIntervalSeconds === undefined ? 0 : 1)
    expect(await shared.store.countLabels({ accountId, limit: 9 })).toHaveLength(
      labels?.length ?? 0,
    )
    const shares = await shared.store.pageShares({ accountId, limit: 9 })
    const named = shares.flatMap((share) => share.devices.map((one) => one.name))
    return { name, labels, shared: named, disabled }
  }

  async function inAll(
    orders: readonly (readonly Step[])[],
    check: (story: Awaited<ReturnType<typeof newStory>>) => Promise<void>,
  ): Promise<void> {
    for (let start = 0; start < orders.length; start += AT_ONCE) {
      const some = orders.slice(start, start + AT_ONCE)
      await Promise.all(
        some.map(async (order) => {
          try {
            await check(await newStory(order))
          } catch (error) {
            throw new Error(`in the order ${order.join(', ')}`, { cause: error })
          }
        }),
      )
    }
  }

  /** A device that has reported, an operator who changes its settings, and one who erases it. */
  async function newStory(order: readonly Step[]) {
    const accountId = newAccountId()
    const device = { accountId, deviceId }
    const erasure: DeviceErased = deviceErased({ ...device, erasedAt: T0 })
    let erased: ProjectionEntry | undefined
    let life: string | undefined
    let isFound = false
    const taken = new Set<Step>()
    partitions += 1
    const partition = partitions
    const report = () => project(log.append(positionReported(device), partition))
    await report()

    const steps: Record<Step, () => Promise<unknown>> = {
      async 'reads the life'() {
        const lives = await shared.store.livesOf({ accountId, deviceIds: [deviceId] })
        life = lives.get(deviceId)
      },
      async 'finds the device'() {
        isFound = (await shared.store.findDevice(device)) !== undefined
      },
      async writes() {
        if (isFound) await change({ ...device, life })
      },
      async 'is announced'() {
        await shared.store.announceErasure(erasure)
        // This makes no store call: steps in between would find every store unchanged.
        erased = log.erase(erasure, partition)
      },
      'is confirmed': () => shared.store.hideErased(erasure),
      forgets: () => shared.store.forgetErased(erasure),
      async projects() {
        if (erased !== undefined) await project(erased)
      },
      'projects a report': report,
    }

    return {
      accountId,
      order,
      async takes(step: Step): Promise<void> {
        await steps[step]()
        taken.add(step)
      },
      /** Everything in the log is projected, and the device reports. */
      async ends(): Promise<void> {
        for (const step of PROJECTOR) if (!taken.has(step)) await steps[step]()
      },
    }
  }

  async function change({
    life,
    ...device
  }: {
    accountId: string
    deviceId: string
    life: string | undefined
  }): Promise<void> {
    const { store } = shared
    const { accountId, deviceId } = device
    // Later than the erasure, as when both arrive at the same time.
    const changedAt = T0 + 1_000
    const settings = { name: NAME, expectedIntervalSeconds: 60, disabled: true }
    const lives = new Map(life === undefined ? [] : [[deviceId, life]])
    const share = {
      id: randomUUID(),
      accountId,
      name: 'Visit',
      createdAt: changedAt,
      trailMinutes: 0,
      expiresAt: T0 + 30 * DAY_MS,
      devices: [{ deviceId, ref: 'ref', name: NAME, ...(life !== undefined && { life }) }],
    }
    await store.changeDeviceSettings({ ...device, life, changedAt, ...settings })
    const labels = { add: [NAME], remove: [] }
    await store.changeLabels({ accountId, deviceIds: [deviceId], lives, changedAt, ...labels })
    await store.createShare(share, secretHash(share.id))
  }

  async function project(entry: ProjectionEntry): Promise<void> {
    await shared.store.project(batchOf(entry))
  }
}

const NOTHING = { name: undefined, labels: undefined, shared: [], disabled: false }

/** A different selection in each run, if not all are tried. */
function someOf(orders: readonly Step[][], most: number): readonly Step[][] {
  const some = fc.shuffledSubarray([...orders], { minLength: most, maxLength: most })
  return fc.sample(some, 1)[0] ?? []
}

/** The projector meets an erasure once it is in the log. */
function isPossible(order: readonly Step[]): boolean {
  return isBefore(order, 'is announced', 'forgets')
}

function isBefore(order: readonly Step[], one: Step, other: Step): boolean {
  return order.indexOf(one) < order.indexOf(other)
}

/** Every order of the steps that preserves the order within each sequence. */
function interleavings(...sequences: readonly (readonly Step[])[]): Step[][] {
  const left = sequences.filter(({ length }) => length > 0)
  if (left.length === 0) return [[]]
  return left.flatMap((sequence, index) => {
    const [first, ...others] = sequence
    const rest = left.map((one, n) => (n === index ? others : one))
    return first === undefined ? [] : interleavings(...rest).map((order) => [first, ...order])
  })
}
