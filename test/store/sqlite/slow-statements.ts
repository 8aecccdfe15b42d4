/** The steps of the store's statements that may take longer with more rows, and why. */
export const SLOW_STATEMENTS = {
  'scans read_models': 'one row',
  'scans sqlite_sequence': 'one row',
  'scans checkpoints': 'a row of each partition',
  'scans hidden_devices': 'the devices whose erasure is in progress',
  'scans device_statuses: SELECT account_id AS accountId, device_id AS deviceId FROM device_statuses WHERE last_received_at < ?':
    'expiry, once in an hour',
  'compares last_received_at': 'expiry: of one device, or the scan above',
  'scans erasures: DELETE FROM erasures WHERE erased_at < ?': 'expiry, of some devices',
  'compares erased_at': 'the scans above',
  'compares applied': 'the erasures of one device',
  'scans begun': 'one row',
  'scans instance_hours': 'of a day, once at the start',
  'scans expired': 'one row',
  'scans progress': 'a row of each partition',
  'scans states: SELECT account_id AS accountId, device_id AS deviceId FROM states WHERE seen_at < ? LIMIT 500':
    'expiry, once in an hour',
  'compares seen_at': 'the scan above',
  'compares type': 'the facts of one device',
  'compares log_offset': 'the records of an erased device, a thousand at once',
  'compares received_at': 'the same',
  'sorts: SELECT * FROM records WHERE device = ? ORDER BY log_partition, log_offset':
    'what an erasure leaves of a device',
  'compares revision': 'one document',
  'compares changed_at': 'the settings of one device',
  'compares generation': 'one row',
  'compares newest': 'one row',
  'compares latitude': 'no index holds places: a page goes through the devices of an account',
  'compares longitude': 'the same',
}
