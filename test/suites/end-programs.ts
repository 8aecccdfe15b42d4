import { afterAll } from '@jest/globals'
import { endPrograms } from '../running-programs.ts'

// Also a program whose start a test has given up ends with the test's file.
afterAll(endPrograms)
