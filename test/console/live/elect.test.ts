import { afterEach, expect, test } from '@jest/globals'
import { elect, type Election, type ElectionMessage } from '../../../console/live/elect.ts'
import { eventually } from '../../eventually.ts'

type Tab = { readonly id: string; leads: boolean; isAsleep: boolean; readonly election: Election }

const tabs = new Map<string, Tab>()

afterEach(() => {
  for (const { election } of tabs.values()) election.leave()
  tabs.clear()
})

/** Messages reach the other tabs later, as those of a BroadcastChannel do. */
function say(from: string, message: ElectionMessage): void {
  setTimeout(() => {
    for (const tab of tabs.values()) {
      if (tab.id !== from && !tab.isAsleep) tab.election.hear(message)
    }
  })
}

function open(id: string): Tab {
  const tab: Tab = {
    id,
    leads: false,
    isAsleep: false,
    election: elect({
      id,
      say: (message) => say(id, message),
      onLead: () => (tabs.get(id)!.leads = true),
      onStepDown: () => (tabs.get(id)!.leads = false),
      answerMs: 20,
      lookEveryMs: 50,
    }),
  }
  tabs.set(id, tab)
  return tab
}

const leaders = () => [...tabs.values()].filter(({ leads }) => leads).map(({ id }) => id)

test('one of several tabs leads', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) open(id)
  await eventually(() => leaders().length === 1)
})

test('when the leader goes, another one leads', async () => {
  const first = open('z')
  await eventually(() => first.leads)
  open('a')
  open('b')
  first.election.leave()
  tabs.delete('z')
  await eventually(() => leaders().length === 1)
  expect(leaders()[0]).not.toBe('z')
})

test('a leader that the browser has put to sleep is replaced, and steps down when it wakes', async () => {
  const sleeper = open('z')
  await eventually(() => sleeper.leads)
  sleeper.isAsleep = true
  const other = open('a')
  await eventually(() => other.leads)
  sleeper.isAsleep = false
  say('', { election: 'who', from: '' })
  await eventually(() => leaders().join() === 'a')
})
