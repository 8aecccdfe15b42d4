/** Takes facts.sqlite back to version 0.3.0, whose indexes have no sequence. */
export const BEFORE_SEQUENCES = `
  DROP INDEX facts_by_account; DROP INDEX facts_by_type; DROP INDEX facts_by_device;
  DROP INDEX facts_by_definition;
  ALTER TABLE facts DROP COLUMN sequence;
  CREATE INDEX facts_by_account ON facts (account_id, at, id);
  CREATE INDEX facts_by_type ON facts (account_id, type, at, id);
  CREATE INDEX facts_by_device ON facts (account_id, device_id, at, id);
  CREATE INDEX facts_by_definition ON facts (account_id, definition_id, at, id)
    WHERE definition_id IS NOT NULL;
  PRAGMA user_version = 4`
