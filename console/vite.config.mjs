import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Built by scripts/build-console.mjs, which names the folder to write to. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // Nothing inline: the policy allows only files of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
