import type { components } from '../../api/schema.ts'
import { bytesText, countText, numberText } from '../../core/measures.ts'
import { ago, duration } from '../../core/times.ts'

type System = components['schemas']['System']

/** `note`: the meaning of the value; `path`: the page of the console that shows more. */
export type SystemFigure = {
  readonly title: string
  readonly value: string
  readonly note: string
  readonly path?: string
}

/** The state of the service in a few numbers. `now`: milliseconds since the epoch. */
export function figuresOf(system: System, now: number): readonly SystemFigure[] {
  const { acceptedPerMinute, refusedPerMinute, lag, deadLetters, spool } = system
  return [
    {
      title: 'Accepted',
      value: numberText(acceptedPerMinute),
      note: 'Positions in the last 60 seconds.',
    },
    {
      title: 'Rejections',
      value: numberText(refusedPerMinute),
      note: 'Reports in the last 60 seconds.',
      path: '/rejections',
    },
    {
      title: 'Lag',
      value: formatLag(lag),
      note: 'How far the map is behind the accepted positions.',
    },
    {
      title: 'Dead letters',
      value: deadLetters === null ? 'Unknown' : numberText(deadLetters),
      note: 'Entries of the log that could not be read.',
    },
    ...(spool === null
      ? []
      : [
          {
            title: 'Waiting for Kafka',
            value: numberText(spool.events),
            note: 'Accepted positions that the ingest APIs keep on their disks.',
          },
        ]),
    ...dataFigures(system, now),
    { title: 'Version', value: system.version, note: modeWords(system.mode) },
  ]
}

function dataFigures(
  { storage, retentionDays, lastBackupAt }: System,
  now: number,
): readonly SystemFigure[] {
  const retention = {
    title: 'Retention',
    value: retentionDays === null ? 'Forever' : countText(retentionDays, 'day'),
    note: 'How long positions are stored after they arrive.',
  }
  if (storage === undefined) return [retention]
  return [
    {
      title: 'Data',
      value: bytesText(storage.dataBytes),
      note: `The disk has ${bytesText(storage.freeBytes)} left.`,
    },
    retention,
    typeof lastBackupAt === 'string'
      ? {
          title: 'Last backup',
          value: ago(Date.parse(lastBackupAt), now),
          note: 'When the newest complete npm run backup started.',
        }
      : {
          title: 'Last backup',
          value: 'None',
          note: 'On the server, npm run backup makes one.',
        },
  ]
}

function formatLag(lag: System['lag']): string {
  if (lag === null) return 'Unknown'
  return lag.events === 0 ? 'None' : duration(lag.seconds * 1_000)
}

function modeWords(mode: System['mode']): string {
  return mode === 'embedded'
    ? 'Everything in one process.'
    : 'Separate services on Kafka and MongoDB.'
}
