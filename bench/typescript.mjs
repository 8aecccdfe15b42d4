// node --import ./bench/typescript.mjs FILE.ts: runs TypeScript sources directly. The bench starts
// servers with the tests' helpers, which no build of the product contains.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
