export type SlotLimits = { readonly total: number; readonly perAccount: number }

const LIMITS: SlotLimits = { total: 64, perAccount: 8 }

type Waiting = {
  readonly accountId: string
  readonly isFailing: boolean
  readonly begin: () => void
}

/**
 * The requests that may be under way at a time. Failing receivers, which may take long, have half of them at most,
 * in all and of each account: so they delay no others.
 */
export function requestSlots({ total, perAccount }: SlotLimits = LIMITS) {
  const taken = { all: 0, failing: 0 }
  const byAccount = new Map<string, { all: number; failing: number }>()
  const waiting: Waiting[] = []

  function isFree({ accountId, isFailing }: Pick<Waiting, 'accountId' | 'isFailing'>): boolean {
    const own = byAccount.get(accountId) ?? { all: 0, failing: 0 }
    if (taken.all >= total || own.all >= perAccount) return false
    return !isFailing || (taken.failing < total / 2 && own.failing < perAccount / 2)
  }

  function count({ accountId, isFailing }: Waiting, by: 1 | -1): void {
    const own = byAccount.get(accountId) ?? { all: 0, failing: 0 }
    for (const counts of [taken, own]) {
      counts.all += by
      if (isFailing) counts.failing += by
    }
    if (own.all === 0) byAccount.delete(accountId)
    else byAccount.set(accountId, own)
  }

  /** Accounts take turns: of those that wait, the one with the fewest requests under way is next. */
  function beginNext(): void {
    for (;;) {
      const free = waiting.filter(isFree)
      const fewest = Math.min(...free.map(underWay))
      const next = free.find((one) => underWay(one) === fewest)
      if (next === undefined) return
      waiting.splice(waiting.indexOf(next), 1)
      next.begin()
    }
  }

  function underWay({ accountId }: Waiting): number {
    return byAccount.get(accountId)?.all ?? 0
  }

  return {
    /** Resolves once a request may begin, with the function that ends it. */
    take(request: {
      readonly accountId: string
      readonly isFailing: boolean
    }): Promise<() => void> {
      return new Promise((resolve) => {
        const entry: Waiting = {
          ...request,
          begin() {
            count(entry, 1)
            resolve(() => {
              count(entry, -1)
              beginNext()
            })
          },
        }
        waiting.push(entry)
        beginNext()
      })
    },
  }
}

export type RequestSlots = ReturnType<typeof requestSlots>
