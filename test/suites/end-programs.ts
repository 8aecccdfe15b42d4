import { afterAll } from '@jest/globals'
import { endPrograms } from '../running-programs.ts'

// A program whose start a test has abandoned also ends with the test file.
afterAll(endPrograms)
