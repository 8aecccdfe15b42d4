import { newTable, renameTable } from './accounts-schema.ts'

/**
 * A separate file: a flood of bad reports writes here endlessly, and must neither delay sign-ins
 * and key changes, nor bloat the one file that cannot be rebuilt.
 */
export const REJECTIONS_SCHEMA = [
  `CREATE TABLE rejections (
     account_id TEXT NOT NULL,
     rejection_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     device_id TEXT,
     received_at INTEGER NOT NULL,
     event TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX rejections_by_id ON rejections (account_id, rejection_id);
   CREATE INDEX rejections_by_key ON rejections (account_id, key_id, rejection_id);
   CREATE INDEX rejections_by_device ON rejections (account_id, device_id, rejection_id);
   CREATE INDEX rejections_by_age ON rejections (received_at);`,

  `${newTable('rejections')}
   INSERT INTO new_rejections (id, document) SELECT rejection_id, json_patch('{}', json_object(
     'id', rejection_id,
     'accountId', account_id,
     'keyId', key_id,
     'deviceId', device_id,
     'receivedAt', received_at,
     'event', event
   )) FROM rejections;
   DROP TABLE rejections;
   ${renameTable('rejections')}`,
]
