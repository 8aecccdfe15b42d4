import type { Database } from '../../runtime/sqlite/database.ts'

const MEASUREMENTS = 'accuracy REAL, altitude REAL, speed REAL, heading REAL, battery REAL'

/**
 * The file of one generation of the read models. Times in milliseconds since the epoch. Records and their
 * indexes refer to devices and accounts by number, which takes three quarters of the bytes, and of the
 * time of an insert. A device's number is never reused.
 */
export const READ_MODELS_SCHEMA = [
  // Version 0.2.0. The columns of a step are written out: those of later versions must not change them.
  `CREATE TABLE account_numbers (
     number INTEGER PRIMARY KEY,
     account_id TEXT NOT NULL UNIQUE
   ) STRICT;

   CREATE TABLE device_statuses (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     first_seen_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL,
     report_count INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     applied TEXT NOT NULL,
     heartbeats TEXT,
     ${MEASUREMENTS},
     UNIQUE (account_id, device_id)
   ) STRICT;
   -- With the coordinates, so that a scan by time reads only matching rows of the table.
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);

   CREATE TABLE records (
     account INTEGER NOT NULL,
     device INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     timestamp_source TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     log_partition INTEGER NOT NULL,
     log_offset INTEGER NOT NULL,
     ${MEASUREMENTS}
   ) STRICT;
   CREATE UNIQUE INDEX records_by_id ON records (record_id, account);
   CREATE INDEX records_by_time ON records (device, timestamp, record_id);
   CREATE INDEX records_by_age ON records (received_at);

   CREATE TABLE erasures (
     event_id TEXT PRIMARY KEY,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     log_partition INTEGER NOT NULL,
     log_offset INTEGER NOT NULL,
     erased_at INTEGER NOT NULL,
     applied INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX erasures_by_device
     ON erasures (account_id, device_id, log_partition, log_offset);

   -- The last applied event too: the last entry processed may not be an event.
   CREATE TABLE checkpoints (
     log_partition INTEGER PRIMARY KEY,
     last_offset INTEGER NOT NULL,
     event_offset INTEGER,
     event_id TEXT
   ) STRICT;`,

  // Attributes, and positions imported from elsewhere. Before, everything received counted as seen.
  `ALTER TABLE records ADD COLUMN attributes TEXT;
   ALTER TABLE records ADD COLUMN imported INTEGER;
   ${copiedStatuses(
     `first_seen_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL,
     last_received_at INTEGER NOT NULL,
     report_count INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     applied TEXT NOT NULL,
     heartbeats TEXT,
     ${MEASUREMENTS}, attributes TEXT, imported INTEGER`,
     `SELECT
       number, account_id, device_id, first_seen_at, last_seen_at, last_seen_at, report_count, record_id,
       latitude, longitude, timestamp, received_at, applied, heartbeats,
       accuracy, altitude, speed, heading, battery, NULL, NULL
     FROM older_statuses`,
   )}`,

  // The key with which a device last reported, not counting imports: that of the record received last. Heartbeats
  // were stored without their key, so after a newer heartbeat it is '' until the device reports again.
  `${copiedStatuses(
    `last_key_id TEXT NOT NULL,
     first_seen_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL,
     last_received_at INTEGER NOT NULL,
     report_count INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     applied TEXT NOT NULL,
     heartbeats TEXT,
     -- NULL: the last position's.
     last_received_id TEXT,
     ${MEASUREMENTS}, attributes TEXT, imported INTEGER`,
    `SELECT
       number, account_id, device_id,
       CASE WHEN heard_at >= newest.received_at THEN '' ELSE coalesce(newest.key_id, '') END,
       first_seen_at, last_seen_at, last_received_at, report_count,
       status.record_id, status.latitude, status.longitude, status.timestamp, status.received_at, applied,
       CASE WHEN heartbeats IS NOT NULL THEN (
         SELECT json_group_object(
           heartbeat.key, json_set(heartbeat.value, '$.eventId', '', '$.keyId', ''))
         FROM json_each(heartbeats) AS heartbeat) END,
       nullif(received_last, status.record_id),
       status.accuracy, status.altitude, status.speed, status.heading, status.battery,
       status.attributes, status.imported
     FROM (
       SELECT heard.*,
         (SELECT max(record_id) FROM records
          WHERE received_at = last_received_at AND device = number) AS received_last,
         -- An index finds the first; the second reads all of a device whose newest record is an import.
         CASE WHEN heard_at = last_received_at THEN NULL ELSE coalesce(
           (SELECT rowid FROM records
            WHERE received_at = last_received_at AND device = number AND imported IS NULL
            ORDER BY record_id DESC LIMIT 1),
           (SELECT rowid FROM records
            WHERE device = number AND imported IS NULL
            ORDER BY received_at DESC, record_id DESC LIMIT 1)) END AS newest_record
       FROM (
         SELECT *, (SELECT max(value ->> 'receivedAt') FROM json_each(heartbeats)) AS heard_at
         FROM older_statuses) AS heard) AS status
     LEFT JOIN records AS newest ON newest.rowid = newest_record`,
  )}
   CREATE INDEX device_statuses_by_key ON device_statuses (account_id, last_key_id, device_id);`,

  // NULL: several versions of the fold, or one before they were recorded.
  'ALTER TABLE checkpoints ADD COLUMN fold_version INTEGER',

  // The place in the log of the last position. NULL: folded by an earlier version.
  `ALTER TABLE device_statuses ADD COLUMN last_partition INTEGER;
   ALTER TABLE device_statuses ADD COLUMN last_offset INTEGER`,

  // The newest thing that the device itself has sent, apart from imports, and the readings of heartbeats and repeats.
  // Before, an import counted as sent by the device: such a device is given the key of its newest record or heartbeat.
  `ALTER TABLE device_statuses RENAME COLUMN last_received_id TO last_key_event_id;
   -- NULL: when anything was received last.
   ALTER TABLE device_statuses ADD COLUMN last_key_at INTEGER;
   ALTER TABLE device_statuses ADD COLUMN readings TEXT;
   UPDATE device_statuses SET (last_key_at, last_key_event_id, last_key_id) = (
     SELECT at, id, key_id FROM (
       SELECT received_at AS at, record_id AS id, key_id FROM records
         WHERE device = number AND imported IS NULL
       UNION ALL
       SELECT value ->> 'receivedAt', value ->> 'eventId', value ->> 'keyId' FROM json_each(heartbeats)
       UNION ALL
       SELECT 0, '', '')
     ORDER BY at DESC, id DESC LIMIT 1)
   WHERE EXISTS (
     SELECT 1 FROM records
     WHERE records.record_id = coalesce(last_key_event_id, device_statuses.record_id)
       AND device = number AND records.imported IS NOT NULL)`,
]

/** Steps that give the table of statuses other columns, filled by a query of `older_statuses`. */
function copiedStatuses(columns: string, query: string): string {
  return `ALTER TABLE device_statuses RENAME TO older_statuses;
   DROP INDEX device_statuses_by_time;
   CREATE TABLE device_statuses (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     ${columns},
     UNIQUE (account_id, device_id)
   ) STRICT;
   INSERT INTO device_statuses ${query};
   -- A device's number is never used again, that of a removed device neither.
   DELETE FROM sqlite_sequence WHERE name = 'device_statuses';
   UPDATE sqlite_sequence SET name = 'device_statuses' WHERE name = 'older_statuses';
   DROP TABLE older_statuses;
   -- With the coordinates, so that a scan by time reads only matching rows of the table.
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);`
}

/** As many records are indexed within about a second. */
const INDEXED_AT_ONCE = 1_000_000

/**
 * Gives the records the index in whose order histories are read. Versions up to 0.2.0 ended theirs with the
 * recordId: SQLite reads in the same order through it, sorting what has the same time, so that a large file
 * keeps it, and opens at the speed of a small one. The next rebuild makes a file with the smaller index.
 */
export function useHistoryIndex(database: Database, { most = INDEXED_AT_ONCE } = {}): void {
  const older = database.prepare<object>('PRAGMA index_info(records_by_time)')
  const newest = database.prepare<{ number: number | null }>(
    'SELECT max(rowid) AS number FROM records',
  )
  if (older.get() === undefined || (newest.get()?.number ?? 0) > most) return
  database.transaction(() => {
    // Another process may have done it meanwhile.
    if (older.get() === undefined) return
    database.exec(
      `CREATE INDEX records_by_place ON records (device, timestamp, log_partition, log_offset);
       DROP INDEX records_by_time`,
    )
  })
}
