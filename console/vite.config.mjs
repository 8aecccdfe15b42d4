import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const BASE =
  /console\/(core|live|ui)\/(?!time-plot)[\w-]+\.tsx?$|console\/(map\/draw-label|pages\/device\/share-link)\./

/** Built by scripts/build.mjs, which names the folder to write to. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  // Below the base that the page states, and that the server sets (CONSOLE_PUBLIC_URL).
  base: './',
  plugins: [themeFirst()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // Nothing inline: the policy allows only files of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // By it the server tells browsers of operators who are signed in what they need next.
    manifest: true,
    // Small files that most pages share are one: each is a request before the page is there.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'base', test: BASE }] } } },
  },
})

/** Puts the base and theme.js at the top of the page; Vite itself does not bundle a plain script. */
function themeFirst() {
  const name = 'theme.js'
  const source = readFileSync(new URL(name, import.meta.url), 'utf8')
  return {
    name: 'theme-first',
    buildStart() {
      if (this.environment.mode === 'build') this.emitFile({ type: 'asset', name, source })
    },
    transformIndexHtml(_html, { bundle = {} }) {
      const file = Object.values(bundle).find(({ names }) => names?.includes(name))
      // The development server has no bundle and serves the source itself.
      const src = file?.fileName ?? name
      return [
        { tag: 'base', attrs: { href: '/' }, injectTo: 'head-prepend' },
        { tag: 'script', attrs: { src }, injectTo: 'head-prepend' },
      ]
    },
  }
}
