/** The output of `--help`. */
export const HELP = `Sends position reports to the service as devices would, and counts the answers.

  npm run simulate -- --url http://localhost:8080 --key KEY --devices 50 --rate 1
  npm run simulate -- --key KEY --gpx track.gpx --speedup 60

  --url URL          the ingest API (default http://localhost:8080)
  --key KEY          an API key with the scope positions:write. Better in the environment
                     variable GPS_KEY, where no shell history keeps it
  --give-up SECONDS  how long a device retries a report that gets a 5xx or no answer
                     (default 60). After a 429 it waits as long as the answer says

Devices that move (without --gpx)
  --devices N        how many (default 10)
  --rate R           reports per second and device (default 1)
  --duration SECONDS --count N
                     when to stop: after a time, or after N reports per device (default: Ctrl-C)
  --prefix NAME      device ids are NAME and a number (default simulated-)
  --seed N           the same number gives the same routes (default 1)
  --attributes       the devices report ignition, motion, odometer, satellites too, now and then an alarm

A recorded track
  --gpx FILE         replays its track points; repeated: several files at once, a device each.
                     Points without a time are 1 s apart before the next one with a time
  --device ID        the device id, once per file (default: the file's name without .gpx)
  --times now        moves the track so that its last point is true now (default)
  --times original   leaves the times as recorded
  --speedup N        the gaps between points divided by N (default: as fast as the service
                     takes them, in order)

Checking that acknowledged reports can be read
  --verify           asks the admin API for every acknowledged record; one that cannot be read
                     10 s after its 200 is missing
  --admin-url URL    (default http://localhost:8081)
  --read-key KEY     a key with the scope positions:read (default: GPS_READ_KEY, then --key)

Ctrl-C ends the run early, with its summary. Exit code 0: every report was acknowledged and no
record is missing; 1: otherwise; 2: invalid arguments.
`
