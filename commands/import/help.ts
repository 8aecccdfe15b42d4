import { FORMATS } from '../../schemas/formats/histories/read-points.ts'

/** The output of `--help`. */
export const HELP = `Imports the history of devices from files of other programs.

  npm run import -- --key KEY --device my-phone walk.gpx Records.json.gz
  npm run import -- --key KEY --devices devices.json positions.json

  FILE…              any number; - is standard input. Files may be compressed with gzip
  --key KEY          an API key with the scope positions:import. Better in the environment
                     variable GPS_KEY, because arguments show in the list of processes
  --url URL          the ingest API (default http://localhost:8080)
  --device ID        the device of all points, whatever the files say. Files without device ids
                     need it
  --devices FILE     the answer of Traccar's /api/devices, which has the ids for the numbers that
                     Traccar's positions have
  --from T --to T    only points of this time or later, and before that one: 2024-01-31, or
                     2024-01-31T12:00:00Z
  --dry-run          reads and checks everything, and sends nothing
  --format F         for files that are not recognised by their content:
${FORMATS.map(({ name, title }) => `                       ${name.padEnd(16)}${title}`).join('\n')}
  --help             this text

Points are sent in the order of the files, as fast as the service takes them. After an interruption start it
again: no point is stored twice. To undo an import, erase the device.

"accepted" counts the points that the service has now, whether new or known before.

Exit code: 0 everything was imported, 1 points were skipped, a file has no recorded position, or the
service refused (it says why), 2 a file could not be read to its end, or the command line is wrong.
`
