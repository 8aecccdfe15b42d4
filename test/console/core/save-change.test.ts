import { expect, test } from '@jest/globals'
import { ApiFailure } from '../../../console/core/failure.ts'
import { findChangedValues, changeSaver } from '../../../console/core/save-change.ts'

const YARD = { name: 'Yard', confirmSeconds: 0, labels: ['a'], revision: 1 }
const ENTERED = { name: 'Yard', confirmSeconds: 0, labels: ['a'], deviceIds: null }

/** A geofence of the service, which others change too. */
function service(stored: Record<string, unknown> & { revision: number }) {
  const sent: object[] = []
  let changedFields: string[] = []
  return {
    sent,
    changedByOthers: (change: object) => {
      changedFields = Object.keys(change)
      stored = { ...stored, ...change, revision: stored.revision + 1 }
    },
    read: () => Promise.resolve(stored as never),
    send: (body: { readonly revision: number }) => {
      sent.push(body)
      if (body.revision !== stored.revision) {
        const details = changedFields.map((field) => ({ field, message: `${field} was changed` }))
        throw new ApiFailure('changed', { status: 409, error: 'CONFLICT', details })
      }
      stored = { ...stored, ...body, revision: stored.revision + 1 }
      return Promise.resolve(stored as never)
    },
  }
}

test('only differences are changes; a missing value equals null, and order does not matter', () => {
  expect(findChangedValues(YARD, ENTERED)).toEqual({})
  expect(findChangedValues({ when: { a: 1, b: 2 } }, { when: { b: 2, a: 1 } })).toEqual({})
  expect(findChangedValues(YARD, { ...ENTERED, labels: null })).toEqual({ labels: null })
})

test('a form keeps somebody else’s changes in other fields', async () => {
  const { sent, changedByOthers, ...calls } = service(YARD)
  const save = changeSaver(YARD, calls)
  changedByOthers({ name: 'Main yard' })
  const { saved, others } = await save({ ...ENTERED, confirmSeconds: 30 })
  expect(saved).toEqual({ name: 'Main yard', confirmSeconds: 30, labels: ['a'], revision: 3 })
  expect(others).toEqual(['name'])
  expect(sent.at(-1)).toEqual({ confirmSeconds: 30, revision: 2 })
})

test('for the same field, the second operator sees what the first has entered, and may replace it', async () => {
  const { sent, changedByOthers, ...calls } = service(YARD)
  const save = changeSaver(YARD, calls)
  changedByOthers({ name: 'Main yard' })
  const entered = { ...ENTERED, name: 'Depot' }
  await expect(save(entered)).rejects.toMatchObject({
    details: [
      {
        field: 'name',
        message:
          'Somebody else has changed this in the meantime to “Main yard”. Save again to replace it.',
      },
    ],
  })
  const { saved } = await save(entered)
  expect(saved).toMatchObject({ name: 'Depot', revision: 3 })
  expect(sent).toHaveLength(2)
})

test('a form in which nothing was changed sends nothing', async () => {
  const { sent, changedByOthers, ...calls } = service(YARD)
  changedByOthers({ name: 'Main yard' })
  expect(await changeSaver(YARD, calls)(ENTERED)).toEqual({ saved: YARD, others: [] })
  expect(sent).toEqual([])
})
