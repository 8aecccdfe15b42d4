// node --import ./bench/typescript.mjs FILE.ts: runs TypeScript sources as they are. The bench starts
// servers with the helpers of the tests, which no build of the product contains.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
