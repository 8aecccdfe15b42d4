import { endTestRun } from './test-run.mjs'

export default endTestRun
