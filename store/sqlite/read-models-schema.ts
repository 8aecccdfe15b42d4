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
]
