import { OPTIONAL_COLUMNS, OPTIONAL_NAMES } from './optional-columns.ts'

/**
 * The file of one generation of the read models. Times in milliseconds since the epoch. Records and their
 * indexes refer to devices and accounts by number, which takes three quarters of the bytes, and of the
 * time of an insert. A device's number is never reused.
 */
export const READ_MODELS_SCHEMA = [
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
     last_received_at INTEGER NOT NULL,
     report_count INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     applied TEXT NOT NULL,
     heartbeats TEXT,
     ${OPTIONAL_COLUMNS},
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
     ${OPTIONAL_COLUMNS}
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

  // The key with which a device last reported. Version 0.2.0 kept it in the records only, so it comes from the
  // record of the last position; if that is gone, it is '' until the device reports again.
  `ALTER TABLE device_statuses RENAME TO keyless_statuses;
   DROP INDEX device_statuses_by_time;
   CREATE TABLE device_statuses (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     last_key_id TEXT NOT NULL,
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
     ${OPTIONAL_COLUMNS},
     UNIQUE (account_id, device_id)
   ) STRICT;
   INSERT INTO device_statuses SELECT
     number, account_id, device_id, key_id, first_seen_at, last_seen_at, last_received_at, report_count,
     record_id, latitude, longitude, timestamp, received_at, applied,
     CASE WHEN heartbeats IS NOT NULL THEN (
       SELECT json_group_object(
         heartbeat.key, json_set(heartbeat.value, '$.eventId', '', '$.keyId', key_id))
       FROM json_each(heartbeats) AS heartbeat) END,
     NULL, ${OPTIONAL_NAMES.join(', ')}
   FROM (
     SELECT keyless_statuses.*, coalesce((
       SELECT key_id FROM records WHERE records.record_id = keyless_statuses.record_id AND device = number
     ), '') AS key_id
     FROM keyless_statuses);
   -- A device's number is never used again, that of a removed device neither.
   DELETE FROM sqlite_sequence WHERE name = 'device_statuses';
   UPDATE sqlite_sequence SET name = 'device_statuses' WHERE name = 'keyless_statuses';
   DROP TABLE keyless_statuses;
   -- With the coordinates, so that a scan by time reads only matching rows of the table.
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);
   CREATE INDEX device_statuses_by_key ON device_statuses (account_id, last_key_id, device_id);`,

  // NULL: several versions of the fold, or one before they were recorded.
  'ALTER TABLE checkpoints ADD COLUMN fold_version INTEGER',
]
