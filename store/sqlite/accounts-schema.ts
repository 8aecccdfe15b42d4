import { fillBefore030 } from '../../runtime/sqlite/before-0.3.0.ts'

/**
 * The file for all data that cannot be rebuilt from the log; `makeTables` adds the back office's
 * documents. Times in milliseconds since the epoch.
 */
export const ACCOUNTS_SCHEMA = [
  ...fillBefore030(2),

  // labels: each between line breaks, which no label contains. life: a new value with each erasure;
  // the row of an erased device remains, although nothing is set.
  `CREATE TABLE device_settings (
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     name TEXT,
     disabled INTEGER NOT NULL,
     expected_interval_seconds REAL,
     changed_at INTEGER NOT NULL DEFAULT 0,
     labels TEXT,
     life TEXT,
     PRIMARY KEY (account_id, device_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX disabled_devices ON device_settings (account_id, device_id) WHERE disabled = 1;
   CREATE INDEX devices_with_interval ON device_settings (account_id, device_id)
     WHERE expected_interval_seconds IS NOT NULL;
   CREATE INDEX labelled_devices ON device_settings (account_id, device_id, labels)
     WHERE labels IS NOT NULL;
   CREATE INDEX erased_settings ON device_settings (changed_at) WHERE life IS NOT NULL;

   CREATE TABLE hidden_devices (
     event_id TEXT PRIMARY KEY,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     erased_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX hidden_devices_by_account ON hidden_devices (account_id, device_id);

   -- newest: the newest generation that a rebuild has begun, because numbers are never reused.
   -- retention_days: null where records are kept forever.
   CREATE TABLE read_models (
     only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
     generation INTEGER NOT NULL,
     newest INTEGER NOT NULL,
     retention_days REAL
   ) STRICT;
   INSERT INTO read_models VALUES (1, 1, 1, NULL);`,

  // settings_changes: one row for each device whose settings exist, or were removed less than a day
  // ago; a change assigns it the next version. No REPLACE: in a trigger the policy of the firing
  // statement would apply instead.
  `ALTER TABLE device_settings ADD COLUMN labels_changed_at INTEGER;
   ALTER TABLE device_settings ADD COLUMN enabled_at INTEGER;
   CREATE TABLE settings_changes (
     version INTEGER PRIMARY KEY AUTOINCREMENT,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     at INTEGER NOT NULL DEFAULT (unixepoch()),
     UNIQUE (account_id, device_id)
   ) STRICT;
   CREATE INDEX settings_changes_by_time ON settings_changes (at);
   INSERT INTO settings_changes (account_id, device_id)
     SELECT account_id, device_id FROM device_settings;
   CREATE TRIGGER settings_inserted AFTER INSERT ON device_settings BEGIN
     DELETE FROM settings_changes
       WHERE account_id = NEW.account_id AND device_id = NEW.device_id;
     INSERT INTO settings_changes (account_id, device_id)
       VALUES (NEW.account_id, NEW.device_id);
   END;
   CREATE TRIGGER settings_updated AFTER UPDATE ON device_settings BEGIN
     DELETE FROM settings_changes
       WHERE account_id = NEW.account_id AND device_id = NEW.device_id;
     INSERT INTO settings_changes (account_id, device_id)
       VALUES (NEW.account_id, NEW.device_id);
   END;
   CREATE TRIGGER settings_deleted AFTER DELETE ON device_settings BEGIN
     DELETE FROM settings_changes
       WHERE account_id = OLD.account_id AND device_id = OLD.device_id;
     INSERT INTO settings_changes (account_id, device_id)
       VALUES (OLD.account_id, OLD.device_id);
   END;`,
]
