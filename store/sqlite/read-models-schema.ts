/** The file of one generation of the read models. Times in milliseconds since the epoch. */
export const READ_MODELS_SCHEMA = [
  `CREATE TABLE records (
     account_id TEXT NOT NULL,
     record_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     timestamp_source TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     accuracy REAL,
     altitude REAL,
     speed REAL,
     heading REAL,
     battery REAL,
     log_partition INTEGER NOT NULL,
     log_offset INTEGER NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX records_by_id ON records (account_id, record_id);
   CREATE INDEX records_by_time ON records (account_id, device_id, timestamp, record_id);
   CREATE INDEX records_by_age ON records (received_at);

   CREATE TABLE device_statuses (
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     first_seen_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL,
     report_count INTEGER NOT NULL,
     last_position TEXT NOT NULL,
     applied TEXT NOT NULL,
     PRIMARY KEY (account_id, device_id)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE checkpoints (
     log_partition INTEGER PRIMARY KEY,
     last_offset INTEGER NOT NULL
   ) STRICT;`,

  // The last position's coordinates have their own columns: they compare as numbers, several times
  // faster than values extracted from JSON. They are in the index too, so that a scan by time reads
  // only matching rows of the table.
  `ALTER TABLE device_statuses ADD COLUMN latitude REAL NOT NULL DEFAULT 0;
   ALTER TABLE device_statuses ADD COLUMN longitude REAL NOT NULL DEFAULT 0;
   UPDATE device_statuses SET
     latitude = json_extract(last_position, '$.latitude'),
     longitude = json_extract(last_position, '$.longitude');
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);

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
     ON erasures (account_id, device_id, log_partition, log_offset);`,

  // The last applied event: the last entry processed may not be an event.
  `ALTER TABLE checkpoints ADD COLUMN event_offset INTEGER;
   ALTER TABLE checkpoints ADD COLUMN event_id TEXT;`,

  'ALTER TABLE device_statuses ADD COLUMN heartbeats TEXT;',

  // Devices and accounts have numbers, which stand for them in records and their indexes: three
  // quarters of the bytes, and of the time that an insert takes. A device's is never given twice.
  `CREATE TABLE account_numbers (
     number INTEGER PRIMARY KEY,
     account_id TEXT NOT NULL UNIQUE
   ) STRICT;
   INSERT INTO account_numbers SELECT NULL, account_id FROM device_statuses GROUP BY account_id;

   CREATE TABLE numbered_devices (
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
     accuracy REAL,
     altitude REAL,
     speed REAL,
     heading REAL,
     battery REAL,
     applied TEXT NOT NULL,
     heartbeats TEXT,
     UNIQUE (account_id, device_id)
   ) STRICT;
   INSERT INTO numbered_devices
     SELECT NULL, account_id, device_id, first_seen_at, last_seen_at, report_count,
       last_position ->> 'recordId', latitude, longitude, last_position ->> 'timestamp',
       last_position ->> 'receivedAt', last_position ->> 'accuracy', last_position ->> 'altitude',
       last_position ->> 'speed', last_position ->> 'heading', last_position ->> 'battery',
       applied, heartbeats
     FROM device_statuses;
   DROP TABLE device_statuses;
   ALTER TABLE numbered_devices RENAME TO device_statuses;
   CREATE INDEX device_statuses_by_time
     ON device_statuses (account_id, last_seen_at, device_id, latitude, longitude);

   CREATE TABLE numbered_records (
     account INTEGER NOT NULL,
     device INTEGER NOT NULL,
     record_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     latitude REAL NOT NULL,
     longitude REAL NOT NULL,
     timestamp INTEGER NOT NULL,
     timestamp_source TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     accuracy REAL,
     altitude REAL,
     speed REAL,
     heading REAL,
     battery REAL,
     log_partition INTEGER NOT NULL,
     log_offset INTEGER NOT NULL
   ) STRICT;
   INSERT INTO numbered_records
     SELECT account_numbers.number, device_statuses.number, records.record_id, key_id,
       records.latitude, records.longitude, records.timestamp, timestamp_source,
       records.received_at, records.accuracy, records.altitude, records.speed, records.heading,
       records.battery, log_partition, log_offset
     FROM records
       JOIN device_statuses USING (account_id, device_id)
       JOIN account_numbers USING (account_id)
     ORDER BY records.rowid;
   DROP TABLE records;
   ALTER TABLE numbered_records RENAME TO records;
   CREATE UNIQUE INDEX records_by_id ON records (record_id, account);
   CREATE INDEX records_by_time ON records (device, timestamp, record_id);
   CREATE INDEX records_by_age ON records (received_at);`,
]
