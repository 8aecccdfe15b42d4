import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { withoutUnseenTexts, withoutUnusedModules } from './unused-modules.mjs'

/** Modules that most pages share. */
const SHARED =
  /console\/(core|live|ui)\/(?!time-plot|ticks|sketch|rule-draft|notification-|feature-parts)[\w-]+\.tsx?$|console\/map\/draw-label\./

/** Small pages that people open one after the other; together they compress better. */
const OFFICE =
  /pages\/(accounts|operators|audit|system|rejections\/rejection(s-page|-counts)|keys\/key(-page|s-page|-actions|-columns))/

/** The modules that every map needs, in one chunk: separate ones would compress worse. */
const MAP =
  /node_modules\/(ol|ol-pmtiles|pmtiles|pbf|rbush|quickselect)\/|console\/map\/(?!draw-label)/

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const WITHOUT_NODE = {
  'csv-parse-core': here('../node_modules/csv-parse/lib/api/index.js'),
  'csv-parse': here('history/csv-parse.ts'),
  'node:crypto': here('history/node-shims.ts'),
  'node:zlib': here('history/node-shims.ts'),
}

/** Built by scripts/build.mjs, which names the folder to write to. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  // Below the base stated by the page and set by the server (CONSOLE_PUBLIC_URL).
  base: './',
  // The worker that reads histories runs the services' readers, without the parts of Node that they
  // use.
  resolve: { alias: WITHOUT_NODE },
  worker: { format: 'es', plugins: () => [withoutUnseenTexts()] },
  plugins: [themeFirst(), installable(), withoutUnusedModules()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // Nothing inline: the policy allows only files of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The server reads it to preload files for signed-in operators.
    manifest: true,
    // Few files, because each is a request before the page appears: the files that signing in
    // loads, and those that most pages share.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'shared', test: SHARED },
            { name: 'map', test: MAP },
            { name: 'definitions', test: /pages\/geofences\/(use-definitions|whom)/ },
            { name: 'office', test: OFFICE },
            {
              name: 'notifications',
              test: /pages\/(notifications|rules)\/(?!trouble)|core\/(notification-|rule-draft)/,
            },
          ],
        },
      },
    },
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

/**
 * Lets a phone add the console to its home screen. The addresses in the manifest are relative to
 * it, so that it works below any path.
 */
function installable() {
  const files = []
  function add(name, source) {
    const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8)
    const fileName = name.replace('.', `-${hash}.`)
    files.push({ type: 'asset', fileName: `assets/${fileName}`, source })
    return fileName
  }
  const icon = (size) =>
    add(`icon-${size}.png`, readFileSync(new URL(`icons/${size}.png`, import.meta.url)))
  const touchIcon = icon(180)
  const icons = [192, 512].map((size) => {
    return { src: icon(size), sizes: `${size}x${size}`, type: 'image/png' }
  })
  const manifest = add(
    'console.webmanifest',
    JSON.stringify({
      name: 'GPS console',
      short_name: 'GPS',
      start_url: '../',
      scope: '../',
      display: 'standalone',
      background_color: '#f4f6f7',
      theme_color: '#0b6672',
      // No part of the arrow is outside the circle that systems may cut out.
      icons: [...icons, { ...icons[1], purpose: 'maskable' }],
    }),
  )
  return {
    name: 'installable',
    buildStart() {
      if (this.environment.mode === 'build') files.forEach((file) => this.emitFile(file))
    },
    transformIndexHtml(_html, { bundle }) {
      if (bundle === undefined) return []
      return [
        { tag: 'link', attrs: { rel: 'manifest', href: `./assets/${manifest}` }, injectTo: 'head' },
        {
          tag: 'link',
          attrs: { rel: 'apple-touch-icon', href: `./assets/${touchIcon}` },
          injectTo: 'head',
        },
      ]
    },
  }
}
