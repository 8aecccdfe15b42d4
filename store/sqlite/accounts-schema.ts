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

  // The newest generation that a rebuild has begun: numbers are never reused.
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

  // The back office is stored as documents from here on; their indexes are made with the tables.
  `${newTable('accounts')}
   INSERT INTO new_accounts (id, document) SELECT id, json_object(
     'id', id,
     'name', name,
     'suspended', json(iif(suspended, 'true', 'false')),
     'createdAt', created_at,
     'admins', json((SELECT json_group_array(operators.id) FROM operators
       WHERE account_id = accounts.id AND role = 'admin'))
   ) FROM accounts;

   ${newTable('service')}
   INSERT INTO new_service (id, document) SELECT 'service', json_object(
     'id', 'service',
     'platform', json(json_group_array(id))
   ) FROM operators WHERE platform = 1 HAVING count(*) > 0;

   ${newTable('operators')}
   INSERT INTO new_operators (id, document) SELECT id, json_object(
     'id', id,
     'accountId', account_id,
     'email', email,
     'emailLowerCase', email_lower_case,
     'passwordHash', password_hash,
     'createdAt', created_at
   ) FROM operators;

   ${newTable('sessions')}
   INSERT INTO new_sessions (id, document) SELECT lower(hex(token_hash)), json_object(
     'id', lower(hex(token_hash)),
     'operatorId', operator_id,
     'createdAt', created_at,
     'lastSeenAt', last_seen_at
   ) FROM sessions;

   ${newTable('keys')}
   INSERT INTO new_keys (id, document) SELECT id, json_patch('{}', json_object(
     'id', id,
     'accountId', account_id,
     'name', name,
     'hint', hint,
     'scopes', json(scopes),
     'createdAt', created_at,
     'expiresAt', expires_at,
     'revokedAt', revoked_at,
     'lastUsedAt', last_used_at,
     'deviceIds', json(device_ids),
     'rateLimit', rate_limit,
     'secret', lower(hex(now.secret_hash)),
     'previousSecret', nullif(lower(hex(before.secret_hash)), ''),
     'previousValidUntil', before.valid_until
   )) FROM keys
   JOIN key_secrets AS now ON now.key_id = id AND now.valid_until IS NULL
   LEFT JOIN key_secrets AS before ON before.key_id = id AND before.valid_until IS NOT NULL;

   ${newTable('audit')}
   INSERT INTO new_audit (id, document) SELECT id, entry FROM audit;

   DROP TABLE sessions;
   DROP TABLE key_secrets;
   DROP TABLE keys;
   DROP TABLE operators;
   DROP TABLE accounts;
   DROP TABLE audit;
   DROP TABLE instances;
   ${['accounts', 'service', 'operators', 'sessions', 'keys', 'audit'].map(renameTable).join('')}`,

  // Null: records are kept forever.
  `ALTER TABLE read_models ADD COLUMN retention_days REAL;`,
]

/** A table of documents as `makeTables` makes it, beside the one of its name so far. */
export function newTable(name: string): string {
  return `CREATE TABLE new_${name} (
     id TEXT PRIMARY KEY,
     revision INTEGER NOT NULL DEFAULT 1,
     document TEXT NOT NULL
   ) STRICT;`
}

export function renameTable(name: string): string {
  return `ALTER TABLE new_${name} RENAME TO ${name};`
}
