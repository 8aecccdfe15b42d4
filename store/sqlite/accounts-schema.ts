/** The file of all that cannot be rebuilt from the log. Times in milliseconds since the epoch. */
export const ACCOUNTS_SCHEMA = [
  `CREATE TABLE accounts (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     suspended INTEGER NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE operators (
     id TEXT PRIMARY KEY,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     email TEXT NOT NULL,
     email_lower_case TEXT NOT NULL UNIQUE,
     role TEXT NOT NULL,
     platform INTEGER NOT NULL,
     password_hash TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE sessions (
     token_hash BLOB PRIMARY KEY,
     operator_id TEXT NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
     created_at INTEGER NOT NULL,
     last_seen_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX sessions_by_operator ON sessions (operator_id);

   CREATE TABLE keys (
     id TEXT PRIMARY KEY,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     name TEXT NOT NULL,
     hint TEXT NOT NULL,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     last_used_at INTEGER,
     device_ids TEXT,
     rate_limit INTEGER
   ) STRICT;
   CREATE INDEX keys_by_age ON keys (account_id, created_at, id);

   CREATE TABLE key_secrets (
     secret_hash BLOB PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
     valid_until INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

   CREATE TABLE device_settings (
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     name TEXT,
     disabled INTEGER NOT NULL,
     expected_interval_seconds REAL,
     PRIMARY KEY (account_id, device_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX disabled_devices ON device_settings (account_id, device_id) WHERE disabled = 1;

   CREATE TABLE read_models (
     only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
     generation INTEGER NOT NULL
   ) STRICT;
   INSERT INTO read_models VALUES (1, 1);`,

  // The newest generation that a rebuild has begun: its number is never given again.
  `ALTER TABLE read_models ADD COLUMN newest INTEGER NOT NULL DEFAULT 1;`,

  `ALTER TABLE device_settings ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX devices_with_interval ON device_settings (account_id, device_id)
     WHERE expected_interval_seconds IS NOT NULL;

   CREATE TABLE hidden_devices (
     event_id TEXT PRIMARY KEY,
     account_id TEXT NOT NULL,
     device_id TEXT NOT NULL,
     erased_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX hidden_devices_by_account ON hidden_devices (account_id, device_id);

   CREATE INDEX accounts_by_age ON accounts (created_at, id);
   CREATE INDEX operators_by_age ON operators (account_id, created_at, id);
   CREATE INDEX platform_operators ON operators (id) WHERE platform = 1;

   CREATE TABLE audit (
     account_id TEXT NOT NULL,
     id TEXT NOT NULL,
     entry TEXT NOT NULL,
     PRIMARY KEY (account_id, id)
   ) STRICT;
   CREATE TRIGGER audit_entries_are_never_changed BEFORE UPDATE ON audit
     BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
   CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit
     BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

   CREATE TABLE instances (
     instance_id TEXT PRIMARY KEY,
     reported_at INTEGER NOT NULL,
     report TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
]
