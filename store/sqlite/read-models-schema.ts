import { fillBefore030 } from '../../runtime/sqlite/before-0.3.0.ts'

const MEASUREMENTS = 'accuracy REAL, altitude REAL, speed REAL, heading REAL, battery REAL'

/**
 * The file of one generation of the read models. Times in milliseconds since the epoch. Records and
 * their indexes refer to devices and accounts by number, which takes three quarters of the bytes
 * and of the insert time. A device's number is never reused.
 */
export const READ_MODELS_SCHEMA = [
  ...fillBefore030(5),

  // Version 0.3.0. The columns of each step are written out: later versions' columns must not
  // change it.
  `CREATE TABLE account_numbers (
     number INTEGER PRIMARY KEY,
     account_id TEXT NOT NULL UNIQUE
   ) STRICT;

   CREATE TABLE device_statuses (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     -- The key with which a device last reported, not counting imports; '' if there is none.
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
     -- The newest thing that the device itself has sent. NULL: the last position.
     last_key_event_id TEXT,
     ${MEASUREMENTS}, attributes TEXT, imported INTEGER,
     -- The place of the last position in the log. NULL: folded by an earlier version.
     last_partition INTEGER,
     last_offset INTEGER,
     -- NULL: when anything was received last.
     last_key_at INTEGER,
     -- Of heartbeats and repeats.
     readings TEXT,
     UNIQUE (account_id, device_id)
   ) STRICT;
   -- With the coordinates, so that a scan by time reads only matching rows of the table.
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);
   CREATE INDEX device_statuses_by_key ON device_statuses (account_id, last_key_id, device_id);

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
     ${MEASUREMENTS}, attributes TEXT, imported INTEGER
   ) STRICT;
   CREATE UNIQUE INDEX records_by_id ON records (record_id, account);
   CREATE INDEX records_by_place ON records (device, timestamp, log_partition, log_offset);
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
     event_id TEXT,
     -- NULL: several versions of the fold.
     fold_version INTEGER
   ) STRICT;`,
]
