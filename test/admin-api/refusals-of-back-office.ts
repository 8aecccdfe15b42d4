import { IN_AN_HOUR, REPORTING, type Refusal } from './refusal.ts'

/** Refusals of calls about keys, operators, accounts, shares and the audit. */
export const BACK_OFFICE_REFUSALS: readonly Refusal[] = [
  [
    'scopes must be a list of one or more of positions:write, positions:import, positions:read, devices:read, admin',
    'POST /keys',
    { name: 'k', scopes: [] },
  ],
  [
    'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
    'POST /keys',
    { name: 'k', expiresAt: '2000-01-01T00:00:00Z' },
  ],
  [
    'deviceIds must be a list of 1 to 1000 different deviceIds, or prefixes that end in *',
    'POST /keys',
    { name: 'k', deviceIds: [] },
  ],
  [
    'rateLimit must be a whole number of positions per 60 s, 1 or more',
    'POST /keys',
    { name: 'k', rateLimit: 0 },
  ],
  [
    'deviceIds cannot be combined with the scope admin: leave one of the two out',
    'POST /keys',
    { name: 'k', scopes: ['admin'], deviceIds: ['tug'] },
  ],
  ['there is no key with this id', 'GET /keys/nobody'],
  ['this key has expired: set a later expiresAt first', 'POST /keys/spent/rotate'],
  ['this key is permanently revoked: create another one', 'POST /keys/revoked/rotate'],
  [
    'graceSeconds must be a whole number of seconds from 0 to 2592000',
    'POST /keys/good/rotate',
    { graceSeconds: -1 },
  ],
  ['no key of this account has this secret', 'POST /keys/identify', { key: 'x' }],
  [
    'report must be an object, as a device would send it',
    'POST /test-report',
    { key: REPORTING, report: 7 },
  ],
  [
    'this service does not know where the ingest API is: set INGEST_INTERNAL_URL',
    'POST /test-report',
    { key: REPORTING, report: {} },
  ],
  ['this API key lacks the scope devices:read', 'GET /devices', undefined, 'reporting key'],
  ['this API key lacks the scope admin', 'PATCH /devices/tug', { name: 'x' }, 'bound key'],
  [
    'this call is for operators who have signed in, not for keys',
    'POST /operators',
    { email: 'x@example.org', role: 'viewer' },
    'admin key',
  ],
  ['this call is for operators of the platform', 'GET /accounts', undefined, 'admin'],
  [
    'role must be viewer or dispatcher or admin',
    'POST /operators',
    { email: 'x@example.org', role: 'king' },
  ],
  [
    'this e-mail address is already in use: send another one',
    'POST /operators',
    { email: 'ana@example.org', role: 'viewer' },
  ],
  ['there is no operator with this id', 'PATCH /operators/nobody', { role: 'viewer' }],
  [
    'only an operator of the platform may set platform',
    'POST /operators',
    { email: 'x@example.org', role: 'viewer', platform: true },
    'admin',
  ],
  [
    'admin must be an object with email and password, and nothing else',
    'POST /accounts',
    { name: 'x', admin: 7 },
  ],
  [
    'name is not a field of this call: it takes suspended; suspended must be true or false',
    'PATCH /accounts/nobody',
    { name: 'x' },
  ],
  [
    'you would lock yourself out of your own account: ask another operator',
    'PATCH /accounts/acc-1',
    { suspended: true },
  ],
  ['send the token of a share as a Bearer token', 'GET /shared'],
  ['this share does not exist, or has ended', 'GET /shared', undefined, 'unknown share'],
  [
    'deviceIds must be a list of 1 to 50 different ids of devices that have reported',
    'POST /shares',
    { deviceIds: ['nobody'], expiresAt: IN_AN_HOUR },
  ],
  [
    'names must be an object that has, for some of the deviceIds, the name that the link shows',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, names: 7 },
  ],
  [
    'each of names must be a text of 1 to 100 characters, without control characters and without white space at its ends',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, names: { tug: '' } },
  ],
  [
    'expiresAt must be an ISO 8601 date and time in the future, at most 30 days from now',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: '2000-01-01T00:00:00Z' },
  ],
  [
    'trailMinutes must be a whole number from 0 to 1440',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, trailMinutes: -1 },
  ],
  ['there is no share with this id', 'DELETE /shares/nobody'],
  ['this call needs the role admin; yours is viewer', 'GET /audit', undefined, 'viewer'],
  [
    'this call needs the role dispatcher or admin; yours is viewer',
    'DELETE /shares/nobody',
    undefined,
    'viewer',
  ],
  ['there is no account with this id', 'PATCH /accounts/nobody', { suspended: true }],
  ['suspended must be true or false', 'PATCH /accounts/acc-2', { suspended: 7 }],
  [
    'email must be an e-mail address of at most 254 characters',
    'POST /operators',
    { email: 'x', role: 'viewer' },
  ],
  [
    'this API key is bound to devices: it only reads them',
    'PATCH /devices/tug',
    { name: 'x' },
    'bound admin key',
  ],
  [
    'key must be the secret of an API key, gps_ and 38 characters',
    'POST /keys/identify',
    { key: 7 },
  ],
  [
    'sign in on the page of the console; other pages send a key',
    'POST /session',
    { email: 'ana@example.org', password: 'x' },
    'another page',
  ],
  [
    'this would leave the account without an admin: give somebody else that right first',
    'DELETE /operators/op-1',
  ],
  [
    'this would leave the account without an admin: give somebody else that right first',
    'PATCH /operators/op-1',
    { role: 'viewer' },
  ],
]
