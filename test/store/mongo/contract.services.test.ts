import { storeContract } from '../../contracts/store-contract.ts'
import { describeWith } from '../../services/describe-with.ts'
import { patientStores, SHARE_OF_RUNS } from './patient-store.ts'

await describeWith(['mongodb'], 'the MongoDB store on a server', ({ mongodb }) => {
  storeContract('MongoDB', patientStores(mongodb), SHARE_OF_RUNS)
})
