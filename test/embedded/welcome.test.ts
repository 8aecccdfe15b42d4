import { expect, test } from '@jest/globals'
import { welcome } from '../../embedded/welcome.ts'

const secrets = { email: 'admin@localhost', password: 'secret', apiKey: 'gps_x' }

test.each(['127.0.0.1', '0.0.0.0', '[::]'])(
  'lines to paste ask this machine where the service listens on %s',
  (host) => {
    const [ingestUrl, adminUrl] = [`http://${host}:8080`, `http://${host}:8081`]
    const text = welcome({ secrets, ingestUrl, adminUrl })
    expect(text.match(/http:\/\/[^/]+/g)).toEqual([
      'http://127.0.0.1:8080',
      ...Array<string>(3).fill('http://127.0.0.1:8081'),
    ])
  },
)
