import { beginTestRun } from './test-run.mjs'

export default beginTestRun
