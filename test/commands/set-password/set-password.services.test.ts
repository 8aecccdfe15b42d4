import { expect } from '@jest/globals'
import { PASSWORD, startAdmin } from '../../admin-api/admin-harness.ts'
import { startProgram } from '../../programs.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from '../../store/mongo/database.ts'
import { statusOf } from './status-of.ts'

await describeWith(['mongodb'], 'a lost password on MongoDB', ({ mongodb }) => {
  mongoSuite(mongodb).promise(
    'a lost password is replaced while admin APIs run, and the old sessions end immediately',
    async ({ open, url: databaseUrl }) => {
      const admin = await startAdmin({ openStore: () => open() })
      const { url } = admin
      const { email } = admin.operator
      const session = (await admin.createSession()).Cookie.replace('gps_session=', '')
      expect(await statusOf(url, { session })).toBe(200)
      const program = startProgram('commands/set-password/main', {
        args: ['--email', email],
        // Kafka is not used: nothing listens there.
        env: { MONGODB_URL: databaseUrl, KAFKA_BROKERS: '127.0.0.1:1' },
        input: 'the new one, much longer',
      })
      expect({ code: await program.ended, output: program.output() }).toMatchObject({ code: 0 })
      expect(await statusOf(url, { session })).toBe(401)
      expect(await statusOf(url, { email, password: PASSWORD })).toBe(401)
      expect(await statusOf(url, { email, password: 'the new one, much longer' })).toBe(200)
    },
  )
})
