import { fillBefore030 } from '../../runtime/sqlite/before-0.3.0.ts'

/** Decisions, which cannot be recreated from the log. Times in milliseconds since the epoch. */
export const FACTS_SCHEMA = [
  ...fillBefore030(3),

  `CREATE TABLE states (
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     log_partition INTEGER NOT NULL,
     due INTEGER,
     seen_at INTEGER NOT NULL,
     state TEXT NOT NULL,
     PRIMARY KEY (account_id, device_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX states_due ON states (log_partition, due) WHERE due IS NOT NULL;

   -- The geofences that a device is in, and the rules that are raised for it.
   CREATE TABLE holding (
     account_id TEXT NOT NULL,
     definition_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     PRIMARY KEY (account_id, definition_id, device_id)
   ) STRICT, WITHOUT ROWID;

   -- place: the order in which they were decided.
   CREATE TABLE facts (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     type TEXT NOT NULL,
     at INTEGER NOT NULL,
     decided_at INTEGER NOT NULL,
     fact TEXT NOT NULL,
     definition_id TEXT AS (coalesce(fact ->> '$.geofence.id', fact ->> '$.rule.id')) VIRTUAL
   ) STRICT;
   CREATE INDEX facts_by_account ON facts (account_id, at, id);
   CREATE INDEX facts_by_type ON facts (account_id, type, at, id);
   CREATE INDEX facts_by_device ON facts (account_id, device_id, at, id);
   CREATE INDEX facts_by_definition ON facts (account_id, definition_id, at, id)
     WHERE definition_id IS NOT NULL;
   CREATE INDEX facts_by_age ON facts (decided_at);

   -- Erasures have places among the facts, as in a log.
   CREATE TABLE erasures (
     place INTEGER PRIMARY KEY,
     event_id TEXT NOT NULL,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     erased_at INTEGER NOT NULL
   ) STRICT;

   -- Facts up to this place are gone for their age.
   CREATE TABLE expired (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), up_to INTEGER NOT NULL)
     STRICT;
   INSERT INTO expired VALUES (1, 0);

   CREATE TABLE progress (
     log_partition INTEGER PRIMARY KEY,
     last_offset INTEGER NOT NULL,
     event_offset INTEGER,
     event_id TEXT
   ) STRICT;

   -- Judging has begun; it may have no progress yet.
   CREATE TABLE begun (only_row INTEGER PRIMARY KEY CHECK (only_row = 1)) STRICT;`,

  // Facts of one time are listed by their sequence.
  `ALTER TABLE facts ADD COLUMN sequence INTEGER AS (fact ->> '$.sequence') VIRTUAL;
   DROP INDEX facts_by_account;
   DROP INDEX facts_by_type;
   DROP INDEX facts_by_device;
   DROP INDEX facts_by_definition;
   CREATE INDEX facts_by_account ON facts (account_id, at, sequence, id);
   CREATE INDEX facts_by_type ON facts (account_id, type, at, sequence, id);
   CREATE INDEX facts_by_device ON facts (account_id, device_id, at, sequence, id);
   CREATE INDEX facts_by_definition ON facts (account_id, definition_id, at, sequence, id)
     WHERE definition_id IS NOT NULL;`,
]
