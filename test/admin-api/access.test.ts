import { accessMatrix } from './access-matrix.ts'
import { startAdmin } from './admin-harness.ts'

accessMatrix((operator) => startAdmin({ operator }))
