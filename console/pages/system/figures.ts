import type { components } from '../../api/schema.ts'
import { duration } from '../../core/times.ts'

export type Figure = {
  readonly title: string
  readonly value: string
  /** The meaning of the figure, and the remedy for a bad one. */
  readonly note: string
  readonly isBad: boolean
}

/** The data shown is older than this only if something is wrong. */
const LAG_SECONDS = 60

/** The state of the service in a few numbers. */
export function figuresOf({
  acceptedPerMinute,
  refusedPerMinute,
  lag,
  deadLetters,
  spool,
}: components['schemas']['System']): readonly Figure[] {
  return [
    {
      title: 'Accepted',
      value: `${round(acceptedPerMinute)} a minute`,
      note: 'Positions of the last 60 seconds.',
      isBad: false,
    },
    {
      title: 'Refused',
      value: `${round(refusedPerMinute)} a minute`,
      note: refusedPerMinute > 0 ? 'The page Rejections says why.' : 'Every report was taken.',
      isBad: refusedPerMinute > 0,
    },
    lagFigure(lag),
    {
      title: 'Dead letters',
      value: deadLetters === null ? 'not known' : String(deadLetters),
      note:
        deadLetters === null || deadLetters === 0
          ? 'Events in the log that could not be read.'
          : 'Events that could not be read. On the server, npm run dead-letters shows them.',
      isBad: (deadLetters ?? 0) > 0,
    },
    ...(spool === null
      ? []
      : [
          {
            title: 'Waiting for Kafka',
            value: String(spool.events),
            note:
              spool.events === 0
                ? 'Nothing waits at the ingest APIs.'
                : `The oldest for ${duration(spool.oldestSeconds * 1_000)}. They are safe; see whether Kafka runs.`,
            isBad: spool.events > 0,
          },
        ]),
  ]
}

function lagFigure(lag: components['schemas']['System']['lag']): Figure {
  if (lag === null) {
    const note = 'No projector has been heard of: see whether it runs.'
    return { title: 'Behind', value: 'not known', note, isBad: true }
  }
  const isBad = lag.seconds > LAG_SECONDS
  return {
    title: 'Behind',
    value: lag.events === 0 ? 'nothing' : duration(lag.seconds * 1_000),
    note:
      lag.events === 0
        ? 'All that was accepted is shown.'
        : `${lag.events} accepted positions are not shown yet.${isBad ? ' See whether the projector keeps up.' : ''}`,
    isBad,
  }
}

function round(number: number): string {
  return number >= 10 || Number.isInteger(number) ? String(Math.round(number)) : number.toFixed(1)
}
