import { auditContract } from '../../contracts/store-audit.ts'
import { auditErasuresContract } from '../../contracts/store-audit-erasures.ts'
import { storeSuite } from '../../contracts/store-suite.ts'
import { describeWith } from '../../services/describe-with.ts'
import { patientStores } from './patient-store.ts'

// Unlike the other parts of the back office it is searched along several indexes, and forgets devices.
await describeWith(['mongodb'], 'the audit on a MongoDB server', ({ mongodb }) => {
  const suite = storeSuite(patientStores(mongodb))
  auditContract(suite)
  auditErasuresContract(suite)
})
