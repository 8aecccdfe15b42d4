/** The messages that tabs exchange to elect a leader. */
export type ElectionMessage = {
  readonly election: 'who' | 'leader' | 'gone'
  readonly from: string
}

export type Election = {
  /** Takes a message of another tab. */
  hear(message: ElectionMessage): void
  /** Steps down and tells the others. */
  leave(): void
}

const ANSWER_MS = 400
const LOOK_EVERY_MS = 3_000

/**
 * Elects one of several tabs as the leader where browsers have no locks (on plain HTTP). A tab that
 * hears no leader becomes it; of two leaders the one with the smaller id stays. A leader whose
 * timers a browser slows down, because it is hidden, still answers: messages are not slowed down.
 */
export function elect({
  id,
  say,
  onLead,
  onStepDown,
  answerMs = ANSWER_MS,
  lookEveryMs = LOOK_EVERY_MS,
}: {
  readonly id: string
  readonly say: (message: ElectionMessage) => void
  readonly onLead: () => void
  readonly onStepDown: () => void
  readonly answerMs?: number
  readonly lookEveryMs?: number
}): Election {
  let state: 'following' | 'asking' | 'leading' | 'left' = 'following'
  let answer: ReturnType<typeof setTimeout> | undefined
  const look = setInterval(ask, lookEveryMs)
  ask()

  function ask(): void {
    if (state !== 'following') return
    state = 'asking'
    say({ election: 'who', from: id })
    // Delays are random, so that the other tabs hear the first one to lead.
    answer = setTimeout(lead, answerMs * (1 + Math.random()))
  }

  function lead(): void {
    if (state !== 'asking') return
    state = 'leading'
    say({ election: 'leader', from: id })
    onLead()
  }

  function follow(): void {
    clearTimeout(answer)
    if (state === 'leading') onStepDown()
    if (state !== 'left') state = 'following'
  }

  return {
    hear({ election, from }) {
      if (state === 'left') return
      switch (election) {
        case 'who':
          if (state === 'leading') say({ election: 'leader', from: id })
          return
        case 'leader':
          if (state === 'leading' && id < from) say({ election: 'leader', from: id })
          else follow()
          return
        case 'gone':
          return ask()
      }
    },
    leave() {
      const wasLeading = state === 'leading'
      clearTimeout(answer)
      clearInterval(look)
      state = 'left'
      if (!wasLeading) return
      onStepDown()
      say({ election: 'gone', from: id })
    },
  }
}
